import { setTimeout as wait } from "node:timers/promises";
import { ContractError } from "../../domain/error.ts";
import type { Instant } from "../../domain/instant.ts";
import type { StoredWebhook, WebhookProgress } from "../../domain/webhooks/webhook.ts";
import { EVENTS_WRITTEN } from "../../ports/events.ts";
import type { WebhookRef } from "../../ports/webhooks.ts";
import type { Context } from "../context.ts";

const LEASE_MS = 10_000;
const TRIES = 40;
const PAUSE_MS = 50;

export const noWebhook = (): ContractError => new ContractError("not_found", "This webhook doesn't exist.");

/** Changes a webhook's progress between two rounds of its worker; a running round would overwrite the change. */
export async function amendProgress(
  { deps }: Context,
  where: WebhookRef,
  change: (progress: WebhookProgress, now: Instant) => WebhookProgress,
): Promise<StoredWebhook> {
  const { webhooks } = deps.backend;
  for (let tries = 0; tries < TRIES; tries++) {
    const held = await webhooks.hold(where, LEASE_MS);
    if (held !== undefined) {
      let next = held.progress;
      try {
        next = change(held.progress, held.leasedUntil - LEASE_MS);
      } finally {
        // Release it even if the change is refused.
        await webhooks.settle(held, next);
      }
      deps.wakeups.notify(EVENTS_WRITTEN);
      return { ...held, progress: next };
    }
    if ((await webhooks.get(where)) === undefined) throw noWebhook();
    await wait(PAUSE_MS);
  }
  throw new ContractError("conflict", "Events are being sent to this webhook right now. Try again in a moment.", {
    retryable: true,
    retryAfterMs: 1_000,
  });
}
