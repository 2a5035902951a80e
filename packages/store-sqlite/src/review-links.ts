import type { ReviewLink, ReviewLinks } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

/** Writes review links for a commit; only inside its transaction. */
export function createReviewLinkWriter(db: Database): (link: ReviewLink) => void {
  const put = db.prepare(
    `INSERT INTO review_links (link_id, submission_id, hash, forget_after, doc) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (link_id) DO UPDATE SET hash = excluded.hash, forget_after = excluded.forget_after, doc = excluded.doc`,
  );
  return (link) => {
    put.run(link.linkId, link.submissionId, link.hash, link.forgetAfter, JSON.stringify(link));
  };
}

export function createReviewLinkFinder(db: Database): (hash: string) => ReviewLink | undefined {
  const find = db.prepare<[string], string>("SELECT doc FROM review_links WHERE hash = ?").pluck();
  return (hash) => {
    const doc = find.get(hash);
    return doc === undefined ? undefined : (JSON.parse(doc) as ReviewLink);
  };
}

export function createReviewLinks(db: Database): ReviewLinks {
  const forget = db.prepare(
    "DELETE FROM review_links WHERE link_id IN (SELECT link_id FROM review_links WHERE forget_after < ? ORDER BY forget_after LIMIT ?)",
  );
  return { forgetExpired: (before, limit) => answer(() => forget.run(before, limit).changes) };
}
