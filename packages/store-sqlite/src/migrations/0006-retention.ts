import type { Migration } from "./migration.ts";

/**
 * What has ended is found by the definition it was created with, which says how long it is kept; only the indexes of ended
 * submissions pay for it. Every record is in one of two indexes by its submission: in this one, or in `records_kept`.
 */
export const retention: Migration = {
  id: 6,
  name: "retention",
  sql: `
    ALTER TABLE submissions ADD COLUMN definition BLOB;
    ALTER TABLE submissions ADD COLUMN erased_at INTEGER;
    UPDATE submissions SET definition = unhex(doc ->> '$.definition');
    CREATE INDEX submissions_to_erase ON submissions (definition, ended_at) WHERE ended_at IS NOT NULL AND erased_at IS NULL;
    CREATE INDEX submissions_to_remove ON submissions (erased_at) WHERE erased_at IS NOT NULL;
    CREATE INDEX records_of_submission ON records (sid) WHERE keep_after_end_ms IS NULL;
  `,
};
