import type { ChainedEvent } from "../domain/chained-event.ts";
import type { FeedEvent, FeedPosition } from "../domain/webhooks/feed.ts";
import {
  afterRound,
  dueQueues,
  type FailedSend,
  type QueueOutcome,
  queuesOf,
  readsFeed,
} from "../domain/webhooks/round.ts";
import type { BlockedQueue } from "../domain/webhooks/webhook.ts";
import type { ClaimedWebhook } from "../ports/webhooks.ts";
import type { Context } from "./context.ts";
import { createSender, feedOf, queueOf, type Sender, sideBySide } from "./webhooks/event-sender.ts";

/** Events per round. */
const PAGE = 100;
/** How many submissions' events are sent to one webhook concurrently. */
const QUEUES_AT_ONCE = 8;

export interface Push {
  webhook: ClaimedWebhook;
  /** How long the webhook is leased. */
  leaseMs: number;
  signal: AbortSignal;
}

/**
 * One round of sending to a webhook: a page of the feed and the blocked submissions that are due; submissions
 * concurrently, each submission's events in order. After a crash, events that were sent but not recorded are sent again
 * with the same id. Returns whether there may be more.
 */
export async function pushEvents(context: Context, push: Push): Promise<boolean> {
  const { deps } = context;
  const { webhook, leaseMs } = push;
  const { progress } = webhook;
  const { position: after } = progress;
  const began = webhook.leasedUntil - leaseMs;
  const page = readsFeed(progress, began)
    ? await deps.backend.events.feed(feedOf(webhook), { after, limit: PAGE })
    : { events: [], position: after };
  const fresh = queuesOf(page, progress);
  const sender = createSender(deps, push);
  const round = createRound(context, { webhook, sender });
  // If the receiver seems to be down, try one new submission rather than everything that waits.
  const isSuspect = progress.failures > 0 && fresh.length > 0;
  await round.sendFresh(fresh, isSuspect ? 1 : QUEUES_AT_ONCE);
  if (!isSuspect || round.accepted.length > 0) await round.sendBlocked(dueQueues(progress, began));
  sender.stop();
  const now = await deps.backend.deadlines.now();
  const { accepted, failed, queues } = round;
  const next = afterRound(progress, { page, accepted, failed, queues }, { now, chance: deps.random.chance() });
  await deps.backend.webhooks.settle(webhook, next);
  if (sender.bugs.length > 0) throw sender.bugs[0];
  return page.events.length > 0 || page.position > after || queues.some((queue) => queue.after !== undefined);
}

/** Sends events and records the outcomes. */
function createRound(context: Context, { webhook, sender }: { webhook: ClaimedWebhook; sender: Sender }) {
  const accepted: FeedPosition[] = [];
  const failed: (FailedSend & { event: FeedEvent })[] = [];
  const queues: QueueOutcome[] = [];

  async function sendQueue(queue: readonly FeedEvent[], atMost: number): Promise<void> {
    for (const event of queue) {
      // Several failures in a row mean that the receiver is the problem, not the events.
      if (failed.length >= atMost) return;
      const outcome = await sender.send(event.event, { intakeId: event.intakeId, attempt: 1 });
      if (outcome === "not tried") return;
      if (outcome === "accepted") accepted.push(event.position);
      else {
        failed.push({ ...outcome, event });
        return;
      }
    }
  }

  async function sendWaiting(queue: BlockedQueue): Promise<void> {
    if (queues.filter(({ next }) => next?.failed).length >= QUEUES_AT_ONCE || !sender.mayBegin()) return;
    const { events, isWhole } = await queueOf(context, webhook, queue);
    let after: string | undefined;
    const end = (rest: Pick<QueueOutcome, "next">): void =>
      void queues.push({ submissionId: queue.submissionId, ...(after !== undefined && { after }), ...rest });
    for (const event of events) {
      const attempt = event.eventId === queue.eventId ? queue.failures + 1 : 1;
      const outcome = await sender.send(event, { intakeId: queue.intakeId, attempt });
      if (outcome !== "accepted") {
        end({ next: { eventId: event.eventId, ...(outcome !== "not tried" && { failed: outcome }) } });
        return;
      }
      after = event.eventId;
    }
    end(isWhole || after === undefined ? {} : { next: nextAfter(events) });
  }

  return {
    accepted,
    failed,
    queues,
    sendFresh: (all: readonly FeedEvent[][], atOnce: number) =>
      sideBySide(all, atOnce, (queue) => sendQueue(queue, atOnce)),
    sendBlocked: (all: readonly BlockedQueue[]) => sideBySide(all, QUEUES_AT_ONCE, sendWaiting),
  };
}

/** Where to continue when there are more events than fit a page. */
const nextAfter = (events: readonly ChainedEvent[]): { eventId: string } => ({ eventId: events.at(-1)?.eventId ?? "" });
