import type { ClaimedWebhook, StoredWebhook, Webhook, WebhookProgress } from "@formbridge/core";
import { fromJson, type Row, storable, toJson } from "./table.ts";
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
  // Quotes the receiver, possibly cut in the middle of a character.
  last_error: progress.lastError === undefined ? null : storable(progress.lastError),
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

/** A new webhook. The store adds where in the feed it starts, and when. */
export const addedRow = (webhook: Webhook): Omit<Webhooks, "position" | "next_attempt_at"> => ({
  webhook_id: webhook.webhookId,
  tenant: webhook.tenant,
  defined_by: webhook.definedBy ?? null,
  revision: webhook.revision,
  doc: toJson(webhook),
  state: "active",
  ahead: toJson([]),
  retry_at: null,
  blocked: toJson([]),
  failures: 0,
  last_error: null,
  claim: 0,
  leased_until: 0,
});
