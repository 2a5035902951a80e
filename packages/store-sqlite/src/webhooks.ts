import { type Instant, type WebhookColumns, type Webhooks, webhookOf } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import { createAnyDue, WEBHOOK_COLUMNS } from "./writer/webhooks.ts";

export function createWebhooks(db: Database, now: () => Instant, call: CallWriter): Webhooks {
  const byId = db.prepare<[{ tenant: string; webhookId: string }], WebhookColumns>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE webhook_id = @webhookId AND tenant = @tenant`,
  );
  const byTenant = db.prepare<[string, string, string | null, string | null, number], WebhookColumns>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE tenant = ? AND webhook_id > ? AND (? IS NULL OR defined_by = ?)
     ORDER BY webhook_id LIMIT ?`,
  );
  const anyDue = createAnyDue(db);
  return {
    add: (webhook, atMost = Number.MAX_SAFE_INTEGER) => {
      const { webhookId, tenant, definedBy = null as string | null, revision } = webhook;
      return call("addWebhook", { webhookId, tenant, definedBy, revision, doc: JSON.stringify(webhook) }, atMost);
    },
    get: ({ tenant, webhookId }) =>
      answer(() => {
        const found = byId.get({ tenant, webhookId });
        return found && webhookOf(found);
      }),
    list: ({ tenant, after = "", definedBy = null as string | null }, limit) =>
      answer(() => byTenant.all(tenant, after, definedBy, definedBy, limit).map(webhookOf)),
    update: (webhook) => {
      const { webhookId, tenant, revision } = webhook;
      return call("updateWebhook", { webhookId, tenant, revision, doc: JSON.stringify(webhook) });
    },
    enable: ({ tenant, webhookId }) => call("enableWebhook", { tenant, webhookId }),
    remove: ({ tenant, webhookId }) => call("removeWebhook", { tenant, webhookId }),
    // Looking costs little; only a worker that finds work takes the write lock and waits for the disk.
    async claim(limit, leaseMs) {
      if (!(await answer(() => anyDue(now())))) return [];
      const claimed = await call("claimWebhooks", limit, leaseMs);
      return claimed.map(({ leasedUntil, ...columns }) => ({
        ...webhookOf(columns),
        claim: columns.claim,
        leasedUntil,
      }));
    },
    settle: ({ tenant, webhookId, claim }, { ahead, aside, lastError = null as string | null, ...progress }) => {
      const texts = { ahead: JSON.stringify(ahead), stuck: aside ? JSON.stringify(aside.stuck) : null, lastError };
      return call("settleWebhook", { tenant, webhookId, claim, seen: aside?.seen ?? null, ...texts, ...progress });
    },
  };
}
