import type { Migration } from "./migration.ts";

/** Found by the hash of their secret, which stands nowhere. */
export const reviewLinks: Migration = {
  id: 4,
  name: "review links",
  sql: `
    CREATE TABLE review_links (
      link_id        TEXT PRIMARY KEY,
      submission_id  TEXT NOT NULL,
      hash           TEXT NOT NULL UNIQUE,
      forget_after   INTEGER NOT NULL,
      doc            TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX review_links_by_submission ON review_links (submission_id);
    CREATE INDEX review_links_to_forget ON review_links (forget_after);
  `,
};
