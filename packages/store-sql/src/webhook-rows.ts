import type { ClaimedWebhook, StoredWebhook, Webhook, WebhookProgress } from "@formbridge/core";
import { fromJson, type Row, toJson } from "./table.ts";
import type { webhooks } from "./tables.ts";

type Webhooks = Row<typeof webhooks>;

/** The columns that say how far events were sent. */
export const PROGRESS = [
  "state",
  "position",
  "ahead",
  "retry_at",
  "blocked",
  "failures",
  "next_attempt_at",
  "last_error",
] as const satisfies (keyof Webhooks)[];

type ProgressColumns = Pick<Webhooks, (typeof PROGRESS)[number]>;

export const progressRow = (progress: WebhookProgress): ProgressColumns => ({
  state: progress.state,
  position: progress.position,
  ahead: toJson(progress.ahead),
  retry_at: progress.retryAt ?? null,
  blocked: toJson(progress.blocked),
  failures: progress.failures,
  next_attempt_at: progress.nextAttemptAt,
  last_error: progress.lastError ?? null,
});

const progressOf = (row: ProgressColumns): WebhookProgress => ({
  state: row.state,
  position: row.position,
  ahead: fromJson(row.ahead),
  blocked: row.blocked === null ? [] : fromJson(row.blocked),
  ...(row.retry_at !== null && { retryAt: row.retry_at }),
  failures: row.failures,
  nextAttemptAt: row.next_attempt_at,
  ...(row.last_error !== null && { lastError: row.last_error }),
});

export const webhookOf = (row: ProgressColumns & Pick<Webhooks, "doc">): StoredWebhook => ({
  ...fromJson(row.doc),
  progress: progressOf(row),
});

export const claimedWebhookOf = (
  row: ProgressColumns & Pick<Webhooks, "doc" | "claim" | "leased_until">,
): ClaimedWebhook => ({ ...webhookOf(row), claim: row.claim, leasedUntil: row.leased_until });

/** The columns that a caller sets. */
export const askedRow = (
  webhook: Webhook,
): Pick<Webhooks, "webhook_id" | "tenant" | "defined_by" | "revision" | "doc"> => ({
  webhook_id: webhook.webhookId,
  tenant: webhook.tenant,
  defined_by: webhook.definedBy ?? null,
  revision: webhook.revision,
  doc: toJson(webhook),
});
