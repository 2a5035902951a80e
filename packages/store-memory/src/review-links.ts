import type { Hash, ReviewLink, ReviewLinks } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

export const findReviewLink = ({ reviewLinks }: Tables, hash: Hash): ReviewLink | undefined =>
  [...reviewLinks.values()].find((link) => link.hash === hash);

export const createReviewLinks = (tables: Tables): ReviewLinks => ({
  forgetExpired: (before, limit) =>
    answer(tables, () => {
      const old = [...tables.reviewLinks.values()].filter(({ forgetAfter }) => forgetAfter < before).slice(0, limit);
      for (const { linkId } of old) tables.reviewLinks.delete(linkId);
      return old.length;
    }),
});
