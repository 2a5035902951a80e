import { type ClaimedWebhook, type WebhookColumns, type Webhooks, webhookOf } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

const COLUMNS = `w.doc, w.state, w.position, w.ahead, w.seen, w.stuck, w.failures, w.next_attempt_at AS "nextAttemptAt",
  w.last_error AS "lastError", w.claim, w.leased_until AS "leasedUntil"`;
const ONE = "w.webhook_id = $1 AND w.tenant = $2";

const ADD: Statement = {
  name: "add_webhook",
  text: `INSERT INTO formbridge.webhooks
      (webhook_id, tenant, defined_by, revision, doc, state, position, ahead, failures, next_attempt_at)
    SELECT $1::text, $2::text, $3::text, $4::bigint, $5::text, 'active', formbridge.feed_horizon(), '[]', 0, formbridge.now_ms()
    WHERE (SELECT count(*) FROM formbridge.webhooks AS w WHERE w.tenant = $2::text AND w.defined_by IS NULL) < $6::bigint
    ON CONFLICT DO NOTHING RETURNING webhook_id`,
};
const IS_KNOWN: Statement = { name: "is_webhook", text: "SELECT 1 FROM formbridge.webhooks WHERE webhook_id = $1" };
const GET: Statement = { name: "get_webhook", text: `SELECT ${COLUMNS} FROM formbridge.webhooks AS w WHERE ${ONE}` };
const LIST: Statement = {
  name: "list_webhooks",
  text: `SELECT ${COLUMNS} FROM formbridge.webhooks AS w
    WHERE w.tenant = $1 AND w.webhook_id > $2 AND ($3::text IS NULL OR w.defined_by = $3)
    ORDER BY w.webhook_id LIMIT $4`,
};
const UPDATE: Statement = {
  name: "update_webhook",
  text: `UPDATE formbridge.webhooks AS w SET doc = $4, revision = $3::bigint
    WHERE ${ONE} AND w.revision = $3::bigint - 1 RETURNING w.webhook_id`,
};
const ENABLE: Statement = {
  name: "enable_webhook",
  text: `UPDATE formbridge.webhooks AS w
    SET state = 'active', failures = 0, next_attempt_at = formbridge.now_ms(), last_error = NULL,
      seen = NULL, stuck = NULL
    WHERE ${ONE} RETURNING w.webhook_id`,
};
const REMOVE: Statement = {
  name: "remove_webhook",
  text: `DELETE FROM formbridge.webhooks AS w WHERE ${ONE} RETURNING w.webhook_id`,
};
// Whoever finds a webhook that another worker is just claiming passes it over instead of waiting.
const CLAIM: Statement = {
  name: "claim_webhooks",
  text: `WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now),
    due AS MATERIALIZED (
      SELECT w.webhook_id FROM formbridge.webhooks AS w
      WHERE w.state = 'active' AND w.leased_until <= (SELECT now FROM clock)
        AND EXISTS (
          SELECT 1 FROM formbridge.events AS e WHERE e.tenant = w.tenant AND e.position >
            CASE WHEN w.next_attempt_at <= (SELECT now FROM clock) THEN w.position ELSE w.seen END)
      ORDER BY w.next_attempt_at, w.webhook_id LIMIT $1 FOR UPDATE SKIP LOCKED)
    UPDATE formbridge.webhooks AS w SET claim = w.claim + 1, leased_until = (SELECT now FROM clock) + $2
    FROM due WHERE w.webhook_id = due.webhook_id
    RETURNING ${COLUMNS}`,
};
const SETTLE: Statement = {
  name: "settle_webhook",
  text: `UPDATE formbridge.webhooks AS w
    SET state = $4, position = $5, ahead = $6, failures = $7, next_attempt_at = $8, last_error = $9, seen = $10, stuck = $11,
      leased_until = 0
    WHERE ${ONE} AND w.claim = $3 RETURNING w.webhook_id`,
};

type ClaimedColumns = WebhookColumns & Pick<ClaimedWebhook, "leasedUntil">;

const claimedOf = (columns: ClaimedColumns): ClaimedWebhook => {
  const { claim, leasedUntil } = columns;
  return { ...webhookOf(columns), claim, leasedUntil };
};

const dueFirst = ({ progress: one, ...a }: ClaimedWebhook, { progress: other, ...b }: ClaimedWebhook): number =>
  one.nextAttemptAt - other.nextAttemptAt || (a.webhookId < b.webhookId ? -1 : 1);

export function createWebhooks(db: Database): Webhooks {
  return {
    add: async (webhook, atMost = Number.MAX_SAFE_INTEGER) => {
      const { webhookId, tenant, definedBy = null, revision } = webhook;
      const values = [webhookId, tenant, definedBy, revision, JSON.stringify(webhook), atMost];
      if ((await db.write(ADD, values)).length === 1) return "added";
      return (await db.read(IS_KNOWN, [webhookId])).length === 1 ? "known" : "full";
    },
    get: async ({ tenant, webhookId }) => (await db.read<WebhookColumns>(GET, [webhookId, tenant])).map(webhookOf)[0],
    list: async ({ tenant, after = "", definedBy = null as string | null }, limit) =>
      (await db.read<WebhookColumns>(LIST, [tenant, after, definedBy, limit])).map(webhookOf),
    update: async (webhook) => {
      const { webhookId, tenant, revision } = webhook;
      return (await db.write(UPDATE, [webhookId, tenant, revision, JSON.stringify(webhook)])).length === 1;
    },
    enable: async ({ tenant, webhookId }) => (await db.write(ENABLE, [webhookId, tenant])).length === 1,
    remove: async ({ tenant, webhookId }) => (await db.write(REMOVE, [webhookId, tenant])).length === 1,
    claim: async (limit, leaseMs) =>
      (await db.write<ClaimedColumns>(CLAIM, [limit, leaseMs])).map(claimedOf).sort(dueFirst),
    settle: async ({ tenant, webhookId, claim }, progress) => {
      const { state, position, ahead, aside, failures, nextAttemptAt, lastError = null as string | null } = progress;
      const place = [state, position, JSON.stringify(ahead), failures, nextAttemptAt, lastError];
      const values = [...place, aside?.seen ?? null, aside ? JSON.stringify(aside.stuck) : null];
      return (await db.write(SETTLE, [webhookId, tenant, claim, ...values])).length === 1;
    },
  };
}
