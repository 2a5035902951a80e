import type { Instant, WebhookColumns, WebhookRef } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { LAST_POSITION } from "./events.ts";

export const WEBHOOK_COLUMNS = `doc, state, position, ahead, seen, stuck, failures, next_attempt_at AS nextAttemptAt, last_error AS lastError, claim`;

const ONE = "webhook_id = @webhookId AND tenant = @tenant";
const DUE = `state = 'active' AND leased_until <= @at
  AND CASE WHEN next_attempt_at <= @at THEN position ELSE seen END < ${LAST_POSITION}`;

/** Whether a claim at this moment would get any. */
export function createAnyDue(db: Database): (at: Instant) => boolean {
  const any = db.prepare<[{ at: number }]>(`SELECT 1 FROM webhooks WHERE ${DUE} LIMIT 1`);
  return (at) => any.get({ at }) !== undefined;
}

interface WebhookWrite extends WebhookRef {
  revision: number;
  /** JSON. */
  doc: string;
}
type Settled = WebhookRef & Omit<WebhookColumns, "doc">;
type Claimed = WebhookColumns & { leasedUntil: Instant };

export function createWebhookWriter(db: Database) {
  const due = db.prepare<[{ at: number; limit: number }], WebhookColumns & WebhookRef>(
    `SELECT webhook_id AS webhookId, tenant, ${WEBHOOK_COLUMNS} FROM webhooks
     WHERE ${DUE} ORDER BY next_attempt_at, webhook_id LIMIT @limit`,
  );
  const known = db.prepare<[string]>("SELECT 1 FROM webhooks WHERE webhook_id = ?");
  const made = db
    .prepare<[string], number>("SELECT count(*) FROM webhooks WHERE tenant = ? AND defined_by IS NULL")
    .pluck();
  const insert = db.prepare(
    `INSERT INTO webhooks (webhook_id, tenant, defined_by, revision, doc, state, position, ahead, failures, next_attempt_at)
     VALUES (@webhookId, @tenant, @definedBy, @revision, @doc, 'active', ${LAST_POSITION}, '[]', 0, @at)`,
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
  const lease = db.prepare(`UPDATE webhooks SET claim = @claim, leased_until = @leasedUntil WHERE ${ONE}`);
  const settle = db.prepare(
    `UPDATE webhooks SET state = @state, position = @position, ahead = @ahead, seen = @seen, stuck = @stuck,
       failures = @failures,
       next_attempt_at = @nextAttemptAt, last_error = @lastError, leased_until = 0
     WHERE ${ONE} AND claim = @claim`,
  );
  return {
    add(at: Instant, webhook: WebhookWrite & { definedBy: string | null }, atMost: number): "added" | "known" | "full" {
      if (known.get(webhook.webhookId) !== undefined) return "known";
      if ((made.get(webhook.tenant) ?? 0) >= atMost) return "full";
      insert.run({ ...webhook, at });
      return "added";
    },
    update: (webhook: WebhookWrite): boolean => update.run(webhook).changes === 1,
    enable: (at: Instant, which: WebhookRef): boolean => enable.run({ ...which, at }).changes === 1,
    remove: (which: WebhookRef): boolean => remove.run(which).changes === 1,
    claim(at: Instant, limit: number, leaseMs: number): Claimed[] {
      const leasedUntil = at + leaseMs;
      return due.all({ at, limit }).map(({ webhookId, tenant, ...columns }) => {
        const claim = columns.claim + 1;
        lease.run({ webhookId, tenant, claim, leasedUntil });
        return { ...columns, claim, leasedUntil };
      });
    },
    settle: (settled: Settled): boolean => settle.run(settled).changes === 1,
  };
}
