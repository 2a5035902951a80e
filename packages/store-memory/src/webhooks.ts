import type { ClaimedWebhook, Instant, StoredWebhook, WebhookRef, Webhooks } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

const shown = ({ claim: _claim, leasedUntil: _leasedUntil, ...webhook }: ClaimedWebhook): StoredWebhook => webhook;
const byId = (one: StoredWebhook, other: StoredWebhook): number => (one.webhookId < other.webhookId ? -1 : 1);

export function createWebhooks(tables: Tables): Webhooks {
  const { webhooks } = tables;
  const find = ({ tenant, webhookId }: WebhookRef): ClaimedWebhook | undefined => {
    const found = webhooks.get(webhookId);
    return found?.tenant === tenant ? found : undefined;
  };
  const isDue = ({ tenant, progress }: ClaimedWebhook, now: Instant): boolean => {
    const { nextAttemptAt, position, retryAt = Number.POSITIVE_INFINITY } = progress;
    if (retryAt <= now) return true;
    return nextAttemptAt <= now && tables.events.some((event) => event.position > position && event.tenant === tenant);
  };

  return {
    add: (webhook, atMost = Number.POSITIVE_INFINITY) =>
      answer(tables, () => {
        if (webhooks.has(webhook.webhookId)) return "known";
        const made = [...webhooks.values()].filter(
          ({ tenant, definedBy }) => tenant === webhook.tenant && definedBy === undefined,
        );
        if (made.length >= atMost) return "full";
        const progress = {
          position: tables.lastPosition,
          ahead: [],
          blocked: [],
          failures: 0,
          nextAttemptAt: tables.now(),
        };
        const row = { ...structuredClone(webhook), progress: { state: "active" as const, ...progress } };
        webhooks.set(webhook.webhookId, { ...row, claim: 0, leasedUntil: 0 });
        return "added";
      }),
    get: (where) =>
      answer(tables, () => {
        const found = find(where);
        return found && shown(found);
      }),
    list: ({ tenant, after = "", definedBy }, limit) =>
      answer(tables, () =>
        [...webhooks.values()]
          .filter((webhook) => webhook.tenant === tenant && webhook.webhookId > after)
          .filter((webhook) => definedBy === undefined || webhook.definedBy === definedBy)
          .map(shown)
          .sort(byId)
          .slice(0, limit),
      ),
    count: ({ tenant }, atMost) =>
      answer(tables, () => {
        const found = [...webhooks.values()].filter((webhook) => webhook.tenant === tenant);
        return Math.min(atMost, found.length);
      }),
    update: (webhook) =>
      answer(tables, () => {
        const found = find(webhook);
        if (found === undefined || found.revision !== webhook.revision - 1) return false;
        const { progress, claim, leasedUntil } = found;
        webhooks.set(webhook.webhookId, { ...structuredClone(webhook), progress, claim, leasedUntil });
        return true;
      }),
    hold: (where, leaseMs) =>
      answer(tables, () => {
        const found = find(where);
        const now = tables.now();
        if (found === undefined || found.leasedUntil > now) return undefined;
        found.claim += 1;
        found.leasedUntil = now + leaseMs;
        return { ...found };
      }),
    remove: (where) => answer(tables, () => find(where) !== undefined && webhooks.delete(where.webhookId)),
    claim: (limit, leaseMs) =>
      answer(tables, () => {
        const now = tables.now();
        const due = [...webhooks.values()]
          .filter(({ progress, leasedUntil }) => progress.state === "active" && leasedUntil <= now)
          .filter((webhook) => isDue(webhook, now))
          .sort((one, other) => one.progress.nextAttemptAt - other.progress.nextAttemptAt || byId(one, other))
          .slice(0, limit);
        for (const webhook of due) {
          webhook.claim += 1;
          webhook.leasedUntil = now + leaseMs;
        }
        return due;
      }),
    settle: (claimed, progress) =>
      answer(tables, () => {
        const found = find(claimed);
        if (found === undefined || found.claim !== claimed.claim) return false;
        found.progress = structuredClone(progress);
        found.leasedUntil = 0;
        return true;
      }),
  };
}
