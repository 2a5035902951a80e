import type { Migration } from "./migration.ts";

/** Who is sent events. `doc` is what was asked for; the rest is how far it came. */
export const webhooks: Migration = {
  id: 9,
  name: "webhooks",
  sql: `
    CREATE TABLE formbridge.webhooks (
      webhook_id       text COLLATE "C" PRIMARY KEY,
      tenant           text COLLATE "C" NOT NULL,
      defined_by       text COLLATE "C",
      revision         bigint NOT NULL,
      doc              text NOT NULL,
      state            text COLLATE "C" NOT NULL,
      position         bigint NOT NULL,
      ahead            text NOT NULL,
      seen             bigint,
      stuck            text,
      failures         bigint NOT NULL,
      next_attempt_at  bigint NOT NULL,
      last_error       text,
      claim            bigint NOT NULL DEFAULT 0,
      leased_until     bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX webhooks_by_tenant ON formbridge.webhooks (tenant, webhook_id);
    CREATE INDEX webhooks_due ON formbridge.webhooks (next_attempt_at) WHERE state = 'active';
  `,
};
