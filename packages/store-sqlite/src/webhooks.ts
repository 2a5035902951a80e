import {
  type ClaimedWebhook,
  type Instant,
  type Webhook,
  type WebhookColumns,
  type Webhooks,
  webhookOf,
} from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

const COLUMNS = `doc, state, position, ahead, seen, stuck, failures, next_attempt_at AS nextAttemptAt, last_error AS lastError, claim`;

const ONE = "webhook_id = @webhookId AND tenant = @tenant";
const END = "coalesce((SELECT max(position) FROM events), 0)";

const DUE = `state = 'active' AND leased_until <= @at
  AND CASE WHEN next_attempt_at <= @at THEN position ELSE seen END < ${END}`;

export function createWebhooks(db: Database, now: () => Instant): Webhooks {
  const known = db.prepare<[string]>("SELECT 1 FROM webhooks WHERE webhook_id = ?");
  const made = db
    .prepare<[string], number>("SELECT count(*) FROM webhooks WHERE tenant = ? AND defined_by IS NULL")
    .pluck();
  const insert = db.prepare(
    `INSERT INTO webhooks (webhook_id, tenant, defined_by, revision, doc, state, position, ahead, failures, next_attempt_at)
     VALUES (@webhookId, @tenant, @definedBy, @revision, @doc, 'active', ${END}, '[]', 0, @at)`,
  );
  const byId = db.prepare<[{ tenant: string; webhookId: string }], WebhookColumns>(
    `SELECT ${COLUMNS} FROM webhooks WHERE ${ONE}`,
  );
  const byTenant = db.prepare<[string, string, string | null, string | null, number], WebhookColumns>(
    `SELECT ${COLUMNS} FROM webhooks WHERE tenant = ? AND webhook_id > ? AND (? IS NULL OR defined_by = ?)
     ORDER BY webhook_id LIMIT ?`,
  );
  const update = db.prepare(
    `UPDATE webhooks SET doc = @doc, revision = @revision WHERE ${ONE} AND revision = @revision - 1`,
  );
  const enable = db.prepare(
    `UPDATE webhooks SET state = 'active', failures = 0, next_attempt_at = @at, last_error = NULL, seen = NULL,
       stuck = NULL
     WHERE ${ONE}`,
  );
  const remove = db.prepare(`DELETE FROM webhooks WHERE ${ONE}`);
  const due = db.prepare<[{ at: number; limit: number }], WebhookColumns>(
    `SELECT ${COLUMNS} FROM webhooks WHERE ${DUE} ORDER BY next_attempt_at, webhook_id LIMIT @limit`,
  );
  const anyDue = db.prepare<[{ at: number }]>(`SELECT 1 FROM webhooks WHERE ${DUE} LIMIT 1`);
  const lease = db.prepare(`UPDATE webhooks SET claim = @claim, leased_until = @leasedUntil WHERE ${ONE}`);
  const settle = db.prepare(
    `UPDATE webhooks SET state = @state, position = @position, ahead = @ahead, seen = @seen, stuck = @stuck,
       failures = @failures,
       next_attempt_at = @nextAttemptAt, last_error = @lastError, leased_until = 0
     WHERE ${ONE} AND claim = @claim`,
  );

  const add = db.transaction((webhook: Webhook, atMost: number) => {
    const { webhookId, tenant, definedBy = null, revision } = webhook;
    if (known.get(webhookId) !== undefined) return "known";
    if ((made.get(tenant) ?? 0) >= atMost) return "full";
    insert.run({ webhookId, tenant, definedBy, revision, doc: JSON.stringify(webhook), at: now() });
    return "added";
  });
  const claim = db.transaction((limit: number, leaseMs: number): ClaimedWebhook[] => {
    const at = now();
    const claimed = due.all({ at, limit }).map((columns) => ({
      ...webhookOf(columns),
      claim: columns.claim + 1,
      leasedUntil: at + leaseMs,
    }));
    for (const { webhookId, tenant, claim, leasedUntil } of claimed)
      lease.run({ webhookId, tenant, claim, leasedUntil });
    return claimed;
  });

  return {
    add: (webhook, atMost = Number.MAX_SAFE_INTEGER) => answer(() => add.immediate(webhook, atMost)),
    get: ({ tenant, webhookId }) =>
      answer(() => {
        const found = byId.get({ tenant, webhookId });
        return found && webhookOf(found);
      }),
    list: ({ tenant, after = "", definedBy = null as string | null }, limit) =>
      answer(() => byTenant.all(tenant, after, definedBy, definedBy, limit).map(webhookOf)),
    update: (webhook) =>
      answer(() => {
        const { webhookId, tenant, revision } = webhook;
        return update.run({ webhookId, tenant, revision, doc: JSON.stringify(webhook) }).changes === 1;
      }),
    enable: ({ tenant, webhookId }) => answer(() => enable.run({ tenant, webhookId, at: now() }).changes === 1),
    remove: ({ tenant, webhookId }) => answer(() => remove.run({ tenant, webhookId }).changes === 1),
    // Looking costs little; only a worker that finds work takes the write lock and waits for the disk.
    claim: (limit, leaseMs) =>
      answer(() => (anyDue.get({ at: now() }) === undefined ? [] : claim.immediate(limit, leaseMs))),
    settle: ({ tenant, webhookId, claim: held }, { ahead, aside, lastError = null as string | null, ...progress }) =>
      answer(() => {
        const texts = { ahead: JSON.stringify(ahead), stuck: aside ? JSON.stringify(aside.stuck) : null, lastError };
        const values = { tenant, webhookId, claim: held, seen: aside?.seen ?? null, ...texts, ...progress };
        return settle.run(values).changes === 1;
      }),
  };
}
