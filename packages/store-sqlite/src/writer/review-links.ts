import type { Database } from "better-sqlite3";
import type { LinkColumns } from "./flat-change.ts";

export function createReviewLinkWriter(db: Database) {
  const put = db.prepare(
    `INSERT INTO review_links (link_id, submission_id, hash, forget_after, doc) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (link_id) DO UPDATE SET hash = excluded.hash, forget_after = excluded.forget_after, doc = excluded.doc`,
  );
  const forget = db.prepare(
    "DELETE FROM review_links WHERE link_id IN (SELECT link_id FROM review_links WHERE forget_after < ? ORDER BY forget_after LIMIT ?)",
  );
  return {
    put(link: LinkColumns): void {
      put.run(link);
    },
    forgetExpired: (before: number, limit: number): number => forget.run(before, limit).changes,
  };
}
