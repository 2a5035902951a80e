import type { ClaimedWebhook, Instant, WebhookRef, Webhooks } from "@formbridge/core";
import {
  askedRow,
  claimedWebhookOf,
  columnsOf,
  PROGRESS,
  progressRow,
  type Row,
  webhookOf,
  webhooks,
} from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { LAST_POSITION } from "./events.ts";
import { answer } from "./failures.ts";
import { assign, pick, prepare, prepareCount, prepareInsert, sql, valuesOf } from "./sql.ts";
import type { Writer } from "./writer.ts";

const STORED = pick(webhooks, "w", "doc", ...PROGRESS);
const ONE = "webhook_id = ? AND tenant = ?";
const DUE = `w.state = 'active' AND w.leased_until <= @at
  AND (w.retry_at <= @at OR (w.next_attempt_at <= @at AND w.position < ${LAST_POSITION}))`;

export function createWebhooks(db: Database, now: () => Instant, writer: Writer): Webhooks {
  const byId = prepare(db, sql`SELECT ${STORED} FROM ${webhooks} AS w WHERE ${ONE}`);
  const byTenant = prepare(
    db,
    sql`SELECT ${STORED} FROM ${webhooks} AS w WHERE w.tenant = ? AND w.webhook_id > ? AND (? IS NULL OR w.defined_by = ?)
      ORDER BY w.webhook_id LIMIT ?`,
  );
  const anyDue = db.prepare<[{ at: Instant }]>(`SELECT 1 FROM webhooks AS w WHERE ${DUE} LIMIT 1`);
  const add = createAdd(db);
  const update = db.prepare(
    `UPDATE webhooks SET ${assign(webhooks, "doc", "revision")} WHERE ${ONE} AND revision = ? - 1`,
  );
  const remove = db.prepare(`DELETE FROM webhooks WHERE ${ONE}`);
  const settle = db.prepare(
    `UPDATE webhooks SET ${assign(webhooks, ...PROGRESS)}, leased_until = 0 WHERE ${ONE} AND claim = ?`,
  );
  const claims = createClaims(db);
  const count = prepareCount(db, "webhooks");
  return {
    add: (webhook, atMost = Number.MAX_SAFE_INTEGER) => writer.write((at) => add(askedRow(webhook), atMost, at)),
    get: ({ tenant, webhookId }) =>
      answer(() => {
        const found = byId.get(webhookId, tenant);
        return found && webhookOf(found);
      }),
    list: ({ tenant, after = "", definedBy = null as string | null }, limit) =>
      answer(() => byTenant.all(tenant, after, definedBy, definedBy, limit).map(webhookOf)),
    count: ({ tenant }, atMost) => answer(() => count.get(tenant, atMost) ?? 0),
    update: (webhook) => {
      const { doc, revision, webhook_id, tenant } = askedRow(webhook);
      return writer.write(() => update.run(doc, revision, webhook_id, tenant, revision).changes === 1);
    },
    hold: (which, leaseMs) => writer.write((at) => claims.hold(which, { at, leaseMs })),
    remove: ({ tenant, webhookId }) => writer.write(() => remove.run(webhookId, tenant).changes === 1),
    // Checking is cheap; only a worker that finds work takes the write lock and waits for the disk.
    async claim(limit, leaseMs) {
      if ((await answer(() => anyDue.get({ at: now() }))) === undefined) return [];
      return writer.write((at) => claims.claim(limit, { at, leaseMs }));
    },
    settle: ({ tenant, webhookId, claim }, progress) => {
      const values = valuesOf(PROGRESS, progressRow(progress));
      return writer.write(() => settle.run(...values, webhookId, tenant, claim).changes === 1);
    },
  };
}

/** Only inside a transaction. */
function createAdd(db: Database) {
  const known = db.prepare<[string]>("SELECT 1 FROM webhooks WHERE webhook_id = ?");
  const made = db
    .prepare<[string], number>("SELECT count(*) FROM webhooks WHERE tenant = ? AND defined_by IS NULL")
    .pluck();
  const lastPosition = db.prepare<[], number>(`SELECT ${LAST_POSITION}`).pluck();
  const insert = prepareInsert(db, webhooks, { columns: columnsOf(webhooks) });
  return (asked: ReturnType<typeof askedRow>, atMost: number, at: Instant): "added" | "known" | "full" => {
    if (known.get(asked.webhook_id) !== undefined) return "known";
    if ((made.get(asked.tenant) ?? 0) >= atMost) return "full";
    const position = lastPosition.get() ?? 0;
    const progress = { state: "active", position, ahead: [], blocked: [], failures: 0, nextAttemptAt: at } as const;
    insert({ ...asked, ...progressRow(progress), claim: 0, leased_until: 0 });
    return "added";
  };
}

/** Only inside a transaction. */
function createClaims(db: Database) {
  const due = db.prepare<[{ at: Instant; limit: number }], Row<typeof webhooks>>(
    sql`SELECT ${pick(webhooks, "w")} FROM ${webhooks} AS w WHERE ${DUE} ORDER BY w.next_attempt_at, w.webhook_id LIMIT @limit`
      .text,
  );
  const free = prepare(
    db,
    sql`SELECT ${pick(webhooks, "w")} FROM ${webhooks} AS w WHERE ${ONE} AND w.leased_until <= ?`,
  );
  const lease = db.prepare(`UPDATE webhooks SET claim = ?, leased_until = ? WHERE ${ONE}`);
  const leased = (row: Row<typeof webhooks>, leased_until: Instant): ClaimedWebhook => {
    const claim = row.claim + 1;
    lease.run(claim, leased_until, row.webhook_id, row.tenant);
    return claimedWebhookOf({ ...row, claim, leased_until });
  };
  type When = { at: Instant; leaseMs: number };
  return {
    claim: (limit: number, { at, leaseMs }: When): ClaimedWebhook[] =>
      due.all({ at, limit }).map((row) => leased(row, at + leaseMs)),
    hold({ webhookId, tenant }: WebhookRef, { at, leaseMs }: When): ClaimedWebhook | undefined {
      const row = free.get(webhookId, tenant, at);
      return row && leased(row, at + leaseMs);
    },
  };
}
