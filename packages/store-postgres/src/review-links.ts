import { type Change, type ReviewLink, type ReviewLinks, reviewLinksIn } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

/**
 * Writes links beside a commit, in its statement: `c` is what the commit came to. Few commits have any, so the commit itself
 * knows nothing of them.
 */
export const putReviewLinks = (parameter: string): string => `
  INSERT INTO formbridge.review_links
    SELECT n.* FROM json_populate_recordset(NULL::formbridge.review_links, ${parameter}) AS n
    WHERE (SELECT c.answer ->> 'kind' FROM c) = 'committed'
    ON CONFLICT (tenant, submission_id, link_id) DO UPDATE
      SET hash = EXCLUDED.hash, forget_after = EXCLUDED.forget_after, doc = EXCLUDED.doc`;

const columnsOf = (link: ReviewLink) => ({
  tenant: link.tenant,
  submission_id: link.submissionId,
  link_id: link.linkId,
  hash: link.hash,
  forget_after: link.forgetAfter,
  doc: JSON.stringify(link),
});

/** The links of a change as one value; undefined when it has none. */
export function reviewLinkValues({ side }: Change): string | undefined {
  const links = reviewLinksIn(side);
  return links.length === 0 ? undefined : JSON.stringify(links.map(columnsOf));
}

const FORGET: Statement = {
  name: "forget_review_links",
  text: `WITH gone AS (
      DELETE FROM formbridge.review_links WHERE (tenant, submission_id, link_id) IN (
        SELECT tenant, submission_id, link_id FROM formbridge.review_links WHERE forget_after < $1
        ORDER BY forget_after LIMIT $2)
      RETURNING 1)
    SELECT count(*) AS gone FROM gone`,
};

export const createReviewLinks = (db: Database): ReviewLinks => ({
  forgetExpired: async (before, limit) => {
    const [row] = await db.write<{ gone: number }>(FORGET, [before, limit]);
    return row?.gone ?? 0;
  },
});
