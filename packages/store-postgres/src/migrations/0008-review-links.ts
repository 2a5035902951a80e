import type { Migration } from "./migration.ts";

/** Found by the hash of their secret, which stands nowhere. They are written in the statement that commits, see store.ts. */
export const reviewLinks: Migration = {
  id: 8,
  name: "review links",
  sql: `
    CREATE TABLE formbridge.review_links (
      tenant         text COLLATE "C" NOT NULL,
      submission_id  text COLLATE "C" NOT NULL,
      link_id        text COLLATE "C" NOT NULL,
      hash           text COLLATE "C" NOT NULL UNIQUE,
      forget_after   bigint NOT NULL,
      doc            text NOT NULL,
      PRIMARY KEY (tenant, submission_id, link_id)
    );
    CREATE INDEX review_links_to_forget ON formbridge.review_links (forget_after);
  `,
};
