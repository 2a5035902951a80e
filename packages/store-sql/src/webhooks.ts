import type { ClaimedWebhook, Webhooks } from "@formbridge/core";
import { createCount, type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { columnsOf, valuesOf } from "./table.ts";
import { webhooks } from "./tables.ts";
import { addedRow, claimedWebhookOf, PROGRESS, progressRow, webhookOf } from "./webhook-rows.ts";

/** What a store knows about its feed. */
interface Feed {
  /** An expression: the last position that a new webhook doesn't need to read. */
  end: string;
  /** A condition: there are events after the position of the webhook `w`. */
  hasEvents: string;
}

const dueFirst = ({ progress: one, ...a }: ClaimedWebhook, { progress: other, ...b }: ClaimedWebhook): number =>
  one.nextAttemptAt - other.nextAttemptAt || (a.webhookId < b.webhookId ? -1 : 1);

export function createWebhooks(dialect: SqlDialect, runner: SqlRunner, feed: Feed): Webhooks {
  const { read, write } = runner;
  const { ADD, IS_KNOWN, GET, LIST, UPDATE, REMOVE, ...statements } = statementsOf(dialect, feed);
  return {
    add: async (webhook, atMost = Number.MAX_SAFE_INTEGER) => {
      const row = addedRow(webhook);
      if ((await write(ADD, [...valuesOf(GIVEN, row), atMost])).length === 1) return "added";
      return (await read(IS_KNOWN, [webhook.webhookId])).length === 1 ? "known" : "full";
    },
    get: async ({ tenant, webhookId }) => (await read(GET, [webhookId, tenant])).map(webhookOf)[0],
    list: async ({ tenant, after = "", definedBy }, limit) =>
      (await read(LIST, [tenant, after, definedBy ?? null, limit])).map(webhookOf),
    count: createCount(dialect, runner, { table: webhooks }),
    update: async (webhook) => {
      const { webhook_id, tenant, revision, doc } = addedRow(webhook);
      return (await write(UPDATE, [webhook_id, tenant, doc, revision, revision - 1])).length === 1;
    },
    hold: async ({ tenant, webhookId }, leaseMs) =>
      (await write(statements.HOLD, [webhookId, tenant, leaseMs])).map(claimedWebhookOf)[0],
    remove: async ({ tenant, webhookId }) => (await write(REMOVE, [webhookId, tenant])).length === 1,
    // Checking is cheap; only a worker that finds work writes.
    claim: async (limit, leaseMs) => {
      if ((await read(statements.ANY_DUE, [])).length === 0) return [];
      return (await write(statements.CLAIM, [limit, leaseMs])).map(claimedWebhookOf).sort(dueFirst);
    },
    settle: async ({ tenant, webhookId, claim }, progress) => {
      const values = [webhookId, tenant, claim, ...valuesOf(PROGRESS, progressRow(progress))];
      return (await write(statements.SETTLE, values)).length === 1;
    },
  };
}

/** The columns that `add` is given; the store computes the others. */
const GIVEN = columnsOf(webhooks, "position", "next_attempt_at");

function statementsOf({ sql, pick, places, now, among }: SqlDialect, { end, hasEvents }: Feed) {
  const ID = pick(webhooks, "webhooks", "webhook_id");
  const STORED = pick(webhooks, "w", "doc", ...PROGRESS);
  const CLAIMED = pick(webhooks, "webhooks", "doc", "claim", "leased_until", ...PROGRESS);
  const ONE = "webhook_id = $1 AND tenant = $2";
  const DUE = `w.state = 'active' AND w.leased_until <= ${now}
    AND (w.retry_at <= ${now} OR (w.next_attempt_at <= ${now} AND ${hasEvents}))`;
  const CHOSEN = sql`SELECT w.webhook_id FROM ${webhooks} AS w WHERE ${DUE} ORDER BY w.next_attempt_at, w.webhook_id LIMIT $1`;
  const progress = places(webhooks, PROGRESS, 4).map((place, index) => `${PROGRESS[index]} = ${place}`);
  return {
    ADD: statement(
      "add_webhook",
      sql`INSERT INTO ${webhooks} (${GIVEN.join(", ")}, position, next_attempt_at)
        SELECT ${places(webhooks, GIVEN).join(", ")}, ${end}, ${now}
         WHERE (SELECT count(*) FROM ${webhooks} AS w WHERE w.tenant = $2 AND w.defined_by IS NULL) < $${GIVEN.length + 1}
        ON CONFLICT DO NOTHING RETURNING ${ID}`,
    ),
    IS_KNOWN: statement(
      "is_webhook",
      sql`SELECT ${pick(webhooks, "w", "webhook_id")} FROM ${webhooks} AS w WHERE w.webhook_id = $1`,
    ),
    GET: statement("get_webhook", sql`SELECT ${STORED} FROM ${webhooks} AS w WHERE ${ONE}`),
    LIST: statement(
      "list_webhooks",
      sql`SELECT ${STORED} FROM ${webhooks} AS w
        WHERE w.tenant = $1 AND w.webhook_id > $2 AND (CAST($3 AS text) IS NULL OR w.defined_by = $3)
        ORDER BY w.webhook_id LIMIT $4`,
    ),
    UPDATE: statement(
      "update_webhook",
      sql`UPDATE ${webhooks} SET doc = $3, revision = $4 WHERE ${ONE} AND revision = $5 RETURNING ${ID}`,
    ),
    REMOVE: statement("remove_webhook", sql`DELETE FROM ${webhooks} WHERE ${ONE} RETURNING ${ID}`),
    HOLD: statement(
      "hold_webhook",
      sql`UPDATE ${webhooks} SET claim = claim + 1, leased_until = ${now} + $3
        WHERE ${ONE} AND leased_until <= ${now} RETURNING ${CLAIMED}`,
    ),
    ANY_DUE: statement(
      "any_webhook_due",
      sql`SELECT ${pick(webhooks, "w", "webhook_id")} FROM ${webhooks} AS w WHERE ${DUE} LIMIT 1`,
    ),
    CLAIM: statement(
      "claim_webhooks",
      sql`UPDATE ${webhooks} SET claim = claim + 1, leased_until = ${now} + $2
        WHERE webhook_id ${among(CHOSEN.text)} RETURNING ${CLAIMED}`,
    ),
    SETTLE: statement(
      "settle_webhook",
      sql`UPDATE ${webhooks} SET ${progress.join(", ")}, leased_until = 0 WHERE ${ONE} AND claim = $3 RETURNING ${ID}`,
    ),
  };
}
