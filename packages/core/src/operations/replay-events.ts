import type { ReplayEventsRequest, ReplayEventsResponse } from "@formbridge/contract";
import type { ChainedEvent } from "../domain/chained-event.ts";
import { ContractError } from "../domain/error.ts";
import { retried } from "../domain/webhooks/round.ts";
import type { StoredWebhook } from "../domain/webhooks/webhook.ts";
import type { Context } from "./context.ts";
import { streamsOf } from "./get-events.ts";
import { requirePrincipal } from "./identity/authenticate.ts";
import { nextPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";
import { waitingAt } from "./skip-events.ts";
import { amendProgress } from "./webhooks/amend-webhook.ts";
import { createSender, feedOf, sideBySide } from "./webhooks/event-sender.ts";
import { type OneWebhookCall, visible } from "./webhooks.ts";

const LINES_AT_ONCE = 8;
const MAX_EVENTS = 100;
/** No sends start in the second half of it. */
const BUDGET_MS = 30_000;

interface Found {
  intakeId: string;
  event: ChainedEvent;
}

/**
 * Sends events again with their original ids: those that wait because they were refused (by their worker, in order),
 * one event, all of a submission, or a range of the feed.
 */
export async function replayEvents(
  context: Context,
  call: OneWebhookCall & { request: ReplayEventsRequest },
): Promise<OperationResponse<ReplayEventsResponse>> {
  const webhook = await visible(context, call);
  const { webhookId } = webhook;
  const { eventId, submissionId, from, until, pageToken } = call.request;
  const isRange = from !== undefined || until !== undefined || pageToken !== undefined;
  if (isRange && (eventId !== undefined || submissionId !== undefined)) {
    throw new ContractError("bad_request", "Send a range (from, until) or an event, not both.");
  }
  if (isRange) {
    const { events, ...next } = await rangeOf(context, webhook, call);
    return { body: { ok: true, webhookId, queued: [], ...(await sendAgain(context, webhook, events)), ...next } };
  }
  if (submissionId !== undefined) {
    const events = await eventsOf(context, webhook, { submissionId, eventId });
    return { body: { ok: true, webhookId, queued: [], ...(await sendAgain(context, webhook, events)) } };
  }
  let queued: string[] = [];
  await amendProgress(context, webhook, (progress, now) => {
    queued = waitingAt(progress, eventId);
    return retried(progress, new Set(queued), now);
  });
  return { body: { ok: true, webhookId, queued, sent: 0, failed: [], notTried: 0 } };
}

async function rangeOf(
  { deps }: Context,
  webhook: StoredWebhook,
  { caller, request: { from, until, pageToken } }: OneWebhookCall & { request: ReplayEventsRequest },
): Promise<{ events: Found[]; nextPageToken?: string }> {
  const list = `replay ${webhook.webhookId}`;
  const principal = await requirePrincipal(deps, caller);
  const place = await openPage(deps, { list, principal }, { from, until, pageToken });
  const { query, after = "0" } = place;
  const bounds = {
    ...(query.from !== undefined && { from: Date.parse(query.from) }),
    ...(query.until !== undefined && { until: Date.parse(query.until) }),
  };
  const filter = { ...feedOf(webhook), ...bounds };
  const page = await deps.backend.events.feed(filter, { after: Number(after), limit: MAX_EVENTS });
  const isEnd = page.events.length === 0 && page.position === Number(after);
  return {
    events: page.events,
    ...(await nextPage(deps, place, {
      after: isEnd ? undefined : String(page.position),
      shown: page.events.length,
    })),
  };
}

async function eventsOf(
  { deps }: Context,
  { tenant, types, intakes }: StoredWebhook,
  { submissionId, eventId }: { submissionId: string; eventId: string | undefined },
): Promise<Found[]> {
  const { submission: found } = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  const intakeId = found?.submission.intakeId;
  const where = { tenant, submissionId, streams: streamsOf(types), ...(types && { types }) };
  const isWanted = intakeId !== undefined && (intakes === undefined || intakes.includes(intakeId));
  const events = isWanted ? ((await deps.backend.events.read(where, MAX_EVENTS)) ?? []) : [];
  const meant = events.filter((event) => eventId === undefined || event.eventId === eventId);
  if (intakeId === undefined || meant.length === 0) {
    throw new ContractError("not_found", "This webhook isn't sent such an event.");
  }
  return meant.map((event) => ({ intakeId, event }));
}

/** Submissions concurrently, each in order up to the first refused event. */
async function sendAgain(
  { deps }: Context,
  webhook: StoredWebhook,
  events: readonly Found[],
): Promise<Pick<ReplayEventsResponse, "sent" | "failed" | "notTried">> {
  const now = await deps.backend.deadlines.now();
  const claimed = { ...webhook, claim: 0, leasedUntil: now + BUDGET_MS };
  const sender = createSender(deps, { webhook: claimed, leaseMs: BUDGET_MS, signal: new AbortController().signal });
  const failed: ReplayEventsResponse["failed"] = [];
  let sent = 0;
  const lines = [...Map.groupBy(events, ({ event }) => event.submissionId).values()];
  await sideBySide(lines, LINES_AT_ONCE, async (line) => {
    for (const { event, intakeId } of line) {
      const outcome = await sender.send(event, { intakeId, attempt: 1 });
      if (outcome === "not tried") return;
      if (outcome !== "accepted") {
        failed.push({ eventId: event.eventId, submissionId: event.submissionId, error: outcome.error });
        return;
      }
      sent += 1;
    }
  });
  sender.stop();
  return { sent, failed, notTried: events.length - sent - failed.length };
}
