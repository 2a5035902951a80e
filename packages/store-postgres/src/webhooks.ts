import type { ClaimedWebhook, Webhooks } from "@formbridge/core";
import { askedRow, claimedWebhookOf, events, PROGRESS, progressRow, webhookOf, webhooks } from "@formbridge/store-sql";
import { type Database, findableText } from "./database.ts";
import { countOfTenant, pick, sql, statement } from "./sql.ts";

const STORED = pick(webhooks, "w", "doc", ...PROGRESS);
const CLAIMED = pick(webhooks, "w", "doc", "claim", "leased_until", ...PROGRESS);
const ONE = "w.webhook_id = $1 AND w.tenant = $2";

const ADD = statement(
  "add_webhook",
  sql`INSERT INTO ${webhooks}
      (webhook_id, tenant, defined_by, revision, doc, state, position, ahead, failures, next_attempt_at, claim, leased_until)
    SELECT n.webhook_id, n.tenant, n.defined_by, n.revision, n.doc, 'active', formbridge.feed_horizon(), '[]', 0, formbridge.now_ms(), 0, 0
      FROM json_populate_record(NULL::formbridge.webhooks, $1) AS n
     WHERE (SELECT count(*) FROM ${webhooks} AS w WHERE w.tenant = n.tenant AND w.defined_by IS NULL) < $2::bigint
    ON CONFLICT DO NOTHING RETURNING webhook_id`,
);
const IS_KNOWN = statement(
  "is_webhook",
  sql`SELECT ${pick(webhooks, "w", "webhook_id")} FROM ${webhooks} AS w WHERE w.webhook_id = $1`,
);
const GET = statement("get_webhook", sql`SELECT ${STORED} FROM ${webhooks} AS w WHERE ${ONE}`);
const LIST = statement(
  "list_webhooks",
  sql`SELECT ${STORED} FROM ${webhooks} AS w
    WHERE w.tenant = $1 AND w.webhook_id > $2 AND ($3::text IS NULL OR w.defined_by = $3)
    ORDER BY w.webhook_id LIMIT $4`,
);
const COUNT = countOfTenant(webhooks);
const UPDATE = statement(
  "update_webhook",
  sql`UPDATE ${webhooks} AS w SET doc = $4, revision = $3::bigint
    WHERE ${ONE} AND w.revision = $3::bigint - 1 RETURNING w.webhook_id`,
);
const HOLD = statement(
  "hold_webhook",
  sql`UPDATE ${webhooks} AS w SET claim = w.claim + 1, leased_until = formbridge.now_ms() + $3
    WHERE ${ONE} AND w.leased_until <= formbridge.now_ms() RETURNING ${CLAIMED}`,
);
const REMOVE = statement("remove_webhook", sql`DELETE FROM ${webhooks} AS w WHERE ${ONE} RETURNING w.webhook_id`);
// A webhook that another worker is claiming is skipped.
const CLAIM = statement(
  "claim_webhooks",
  sql`WITH clock AS MATERIALIZED (SELECT formbridge.now_ms() AS now),
    due AS MATERIALIZED (
      SELECT w.webhook_id FROM ${webhooks} AS w
       WHERE w.state = 'active' AND w.leased_until <= (SELECT now FROM clock)
         AND (w.retry_at <= (SELECT now FROM clock) OR (w.next_attempt_at <= (SELECT now FROM clock) AND EXISTS (
           SELECT 1 FROM ${events} AS e WHERE e.tenant = w.tenant AND e.position > w.position)))
       ORDER BY w.next_attempt_at, w.webhook_id LIMIT $1 FOR UPDATE SKIP LOCKED)
    UPDATE ${webhooks} AS w SET claim = w.claim + 1, leased_until = (SELECT now FROM clock) + $2
      FROM due WHERE w.webhook_id = due.webhook_id
    RETURNING ${CLAIMED}`,
);
const SETTLE = statement(
  "settle_webhook",
  sql`UPDATE ${webhooks} AS w SET (${PROGRESS.join(", ")}) = (
        SELECT ${pick(webhooks, "n", ...PROGRESS)} FROM json_populate_record(NULL::formbridge.webhooks, $4) AS n),
      leased_until = 0
    WHERE ${ONE} AND w.claim = $3 RETURNING w.webhook_id`,
);

const dueFirst = ({ progress: one, ...a }: ClaimedWebhook, { progress: other, ...b }: ClaimedWebhook): number =>
  one.nextAttemptAt - other.nextAttemptAt || (a.webhookId < b.webhookId ? -1 : 1);

export function createWebhooks(db: Database): Webhooks {
  return {
    add: async (webhook, atMost = Number.MAX_SAFE_INTEGER) => {
      if ((await db.write(ADD, [JSON.stringify(askedRow(webhook)), atMost])).length === 1) return "added";
      return (await db.read(IS_KNOWN, [webhook.webhookId])).length === 1 ? "known" : "full";
    },
    get: async ({ tenant, webhookId }) => (await db.read(GET, [webhookId, tenant])).map(webhookOf)[0],
    list: async ({ tenant, after = "", definedBy }, limit) =>
      (await db.read(LIST, [tenant, after, definedBy ?? null, limit])).map(webhookOf),
    count: async ({ tenant }, atMost) => (await db.read(COUNT, [tenant, atMost]))[0]?.count ?? 0,
    update: async (webhook) => {
      const { webhook_id, tenant, revision, doc } = askedRow(webhook);
      return (await db.write(UPDATE, [webhook_id, tenant, revision, doc])).length === 1;
    },
    hold: async ({ tenant, webhookId }, leaseMs) =>
      (await db.write(HOLD, [webhookId, tenant, leaseMs])).map(claimedWebhookOf)[0],
    remove: async ({ tenant, webhookId }) => (await db.write(REMOVE, [webhookId, tenant])).length === 1,
    claim: async (limit, leaseMs) => (await db.write(CLAIM, [limit, leaseMs])).map(claimedWebhookOf).sort(dueFirst),
    settle: async ({ tenant, webhookId, claim }, progress) => {
      const row = progressRow(progress);
      // Quotes the receiver, possibly cut in the middle of a character.
      const last_error = row.last_error === null ? null : findableText(row.last_error);
      return (await db.write(SETTLE, [webhookId, tenant, claim, JSON.stringify({ ...row, last_error })])).length === 1;
    },
  };
}
