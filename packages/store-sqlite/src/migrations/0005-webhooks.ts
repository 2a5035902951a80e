import type { Migration } from "./migration.ts";

/** Who is sent events. `doc` is what was asked for; the rest is how far it came. */
export const webhooks: Migration = {
  id: 5,
  name: "webhooks",
  sql: `
    CREATE TABLE webhooks (
      webhook_id       TEXT PRIMARY KEY,
      tenant           TEXT NOT NULL,
      defined_by       TEXT,
      revision         INTEGER NOT NULL,
      doc              TEXT NOT NULL,
      state            TEXT NOT NULL,
      position         INTEGER NOT NULL,
      ahead            TEXT NOT NULL,
      seen             INTEGER,
      stuck            TEXT,
      failures         INTEGER NOT NULL,
      next_attempt_at  INTEGER NOT NULL,
      last_error       TEXT,
      claim            INTEGER NOT NULL DEFAULT 0,
      leased_until     INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX webhooks_by_tenant ON webhooks (tenant, webhook_id);
    CREATE INDEX webhooks_due ON webhooks (next_attempt_at) WHERE state = 'active';
  `,
};
