import type { Migration } from "./migration.ts";

/** Outlive their submissions: whoever harvested a record is told for ever that it is gone. */
export const publications: Migration = {
  id: 2,
  name: "publications",
  sql: `
    CREATE TABLE formbridge.publications (
      submission_id  text COLLATE "C" PRIMARY KEY,
      tenant         text COLLATE "C" NOT NULL,
      intake_id      text COLLATE "C" NOT NULL,
      stamped_at     bigint NOT NULL,
      status         text COLLATE "C" NOT NULL
    );
    CREATE INDEX publications_by_stamp ON formbridge.publications (stamped_at, submission_id);
    CREATE INDEX publications_by_intake ON formbridge.publications (intake_id, stamped_at, submission_id);
    CREATE INDEX publications_by_status ON formbridge.publications (intake_id, status);
  `,
};
