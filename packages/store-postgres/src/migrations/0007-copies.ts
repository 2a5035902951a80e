import type { Migration } from "./migration.ts";

/** Copies of other stores into this database. As long as one is not finished, nobody serves it. */
export const copies: Migration = {
  id: 7,
  name: "copies",
  sql: `
    CREATE TABLE formbridge.copies (
      fingerprint  text COLLATE "C" PRIMARY KEY,
      started_at   timestamptz NOT NULL DEFAULT now(),
      finished_at  timestamptz
    );
  `,
};
