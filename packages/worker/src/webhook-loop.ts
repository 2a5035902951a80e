import { type ClaimedWebhook, EVENTS_WRITTEN, type Operations, type Wakeups, type Webhooks } from "@formbridge/core";
import { type ClaimLoop, startClaimLoop } from "./claim-loop.ts";

export interface WebhookOptions {
  operations: Operations;
  webhooks: Webhooks;
  wakeups: Wakeups;
  /** Webhooks that are sent to at the same time. */
  webhooksAtOnce: number;
  leaseMs: number;
  pollMs: number;
  graceMs: number;
  onError(task: string, error: unknown): void;
}

/** Every commit wakes: many of them are one look. */
const GATHER_MS = 25;

/** Sends events to whoever asked for them: each webhook by one worker at a time, one that is slow beside the others. */
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
