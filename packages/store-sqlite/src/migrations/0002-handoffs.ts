import type { Migration } from "./migration.ts";

/** `handoff_keys` leads from the hash of a link, or of a session opened through it, to its hand-off. */
export const handoffs: Migration = {
  id: 2,
  name: "handoffs",
  sql: `
    CREATE TABLE handoffs (
      handoff_id     TEXT PRIMARY KEY,
      submission_id  TEXT NOT NULL,
      forget_after   INTEGER NOT NULL,
      doc            TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX handoffs_by_submission ON handoffs (submission_id, handoff_id);
    CREATE INDEX handoffs_to_forget ON handoffs (forget_after);

    CREATE TABLE handoff_keys (
      hash        TEXT PRIMARY KEY,
      handoff_id  TEXT NOT NULL REFERENCES handoffs (handoff_id) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX handoff_keys_by_handoff ON handoff_keys (handoff_id);
  `,
};
