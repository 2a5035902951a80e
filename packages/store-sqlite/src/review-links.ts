import type { ReviewLink, ReviewLinks } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { CallWriter } from "./group-commit.ts";

export function createReviewLinkFinder(db: Database): (hash: string) => ReviewLink | undefined {
  const find = db.prepare<[string], string>("SELECT doc FROM review_links WHERE hash = ?").pluck();
  return (hash) => {
    const doc = find.get(hash);
    return doc === undefined ? undefined : (JSON.parse(doc) as ReviewLink);
  };
}

export const createReviewLinks = (call: CallWriter): ReviewLinks => ({
  forgetExpired: (before, limit) => call("forgetReviewLinks", before, limit),
});
