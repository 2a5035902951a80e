import type { SkipEventsRequest, SkipEventsResponse } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { skipped } from "../domain/webhooks/round.ts";
import type { WebhookProgress } from "../domain/webhooks/webhook.ts";
import type { Context } from "./context.ts";
import type { OperationResponse } from "./read/response.ts";
import { amendProgress } from "./webhooks/amend-webhook.ts";
import { type OneWebhookCall, visible, webhookView } from "./webhooks.ts";

/** Skips one event that the receiver refuses, or all dead ones: their submissions continue with the next event. */
export async function skipEvents(
  context: Context,
  call: OneWebhookCall & { request: SkipEventsRequest },
): Promise<OperationResponse<SkipEventsResponse>> {
  const { eventId } = call.request;
  let out: string[] = [];
  const webhook = await amendProgress(context, await visible(context, call), (progress, now) => {
    out = waitingAt(progress, eventId);
    return skipped(progress, new Set(out), now);
  });
  return { body: { ok: true, webhook: webhookView(webhook), skipped: out } };
}

/** The refused events concerned: the named one, or all dead ones. */
export function waitingAt({ blocked }: WebhookProgress, eventId: string | undefined): string[] {
  if (eventId === undefined) return blocked.filter(({ dead }) => dead).map((line) => line.eventId);
  if (blocked.some((line) => line.eventId === eventId)) return [eventId];
  throw new ContractError(
    "not_found",
    "No submission is blocked by this event. Read the webhook to see which ones are.",
  );
}
