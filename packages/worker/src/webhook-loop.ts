import { type ClaimedWebhook, EVENTS_WRITTEN, type Operations, type Wakeups, type Webhooks } from "@formbridge/core";
import { type ClaimLoop, startClaimLoop } from "./claim-loop.ts";

export interface WebhookOptions {
  operations: Operations;
  webhooks: Webhooks;
  wakeups: Wakeups;
  /** How many event webhooks are sent to at the same time. */
  webhooksAtOnce: number;
  leaseMs: number;
  pollMs: number;
  graceMs: number;
  onError(task: string, error: unknown): void;
}

/** Every commit notifies; claim once for many. */
const GATHER_MS = 25;

/** Sends events to webhooks: one worker per webhook at a time, so a slow one doesn't hold up the others. */
export function startWebhooks(options: WebhookOptions): ClaimLoop {
  const { operations, webhooks, leaseMs } = options;
  return startClaimLoop<ClaimedWebhook>({
    ...options,
    name: "webhooks",
    topic: EVENTS_WRITTEN,
    gatherMs: GATHER_MS,
    atOnce: options.webhooksAtOnce,
    claim: (limit) => webhooks.claim(limit, leaseMs),
    run: (webhook, signal) => operations.pushEvents({ webhook, leaseMs, signal }),
  });
}
