import type { ChainedEvent } from "../domain/chained-event.ts";
import type { FeedEvent, FeedPosition } from "../domain/webhooks/feed.ts";
import {
  afterRound,
  dueLines,
  type FailedSend,
  type LineOutcome,
  linesOf,
  readsFeed,
} from "../domain/webhooks/round.ts";
import type { BlockedLine } from "../domain/webhooks/webhook.ts";
import type { ClaimedWebhook } from "../ports/webhooks.ts";
import type { Context } from "./context.ts";
import { createSender, feedOf, lineOf, type Sender, sideBySide } from "./webhooks/event-sender.ts";

/** Events per round. */
const PAGE = 100;
/** How many submissions' events are sent to one webhook concurrently. */
const LINES_AT_ONCE = 8;

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
  const fresh = linesOf(page, progress);
  const sender = createSender(deps, push);
  const round = createRound(context, { webhook, sender });
  // If the receiver seems to be down, try one new submission rather than everything that waits.
  const isSuspect = progress.failures > 0 && fresh.length > 0;
  await round.sendFresh(fresh, isSuspect ? 1 : LINES_AT_ONCE);
  if (!isSuspect || round.taken.length > 0) await round.sendBlocked(dueLines(progress, began));
  sender.stop();
  const now = await deps.backend.deadlines.now();
  const { taken, failed, lines } = round;
  const next = afterRound(progress, { page, taken, failed, lines }, { now, chance: deps.random.chance() });
  await deps.backend.webhooks.settle(webhook, next);
  if (sender.bugs.length > 0) throw sender.bugs[0];
  return page.events.length > 0 || page.position > after || lines.some((line) => line.after !== undefined);
}

/** Sends events and records the outcomes. */
function createRound(context: Context, { webhook, sender }: { webhook: ClaimedWebhook; sender: Sender }) {
  const taken: FeedPosition[] = [];
  const failed: (FailedSend & { event: FeedEvent })[] = [];
  const lines: LineOutcome[] = [];

  async function sendLine(line: readonly FeedEvent[], atMost: number): Promise<void> {
    for (const event of line) {
      // Several failures in a row mean that the receiver is the problem, not the events.
      if (failed.length >= atMost) return;
      const outcome = await sender.send(event.event, { intakeId: event.intakeId, attempt: 1 });
      if (outcome === "not tried") return;
      if (outcome === "taken") taken.push(event.position);
      else {
        failed.push({ ...outcome, event });
        return;
      }
    }
  }

  async function sendWaiting(line: BlockedLine): Promise<void> {
    if (lines.filter(({ next }) => next?.failed).length >= LINES_AT_ONCE || !sender.mayBegin()) return;
    const { events, isWhole } = await lineOf(context, webhook, line);
    let after: string | undefined;
    const end = (rest: Pick<LineOutcome, "next">): void =>
      void lines.push({ submissionId: line.submissionId, ...(after !== undefined && { after }), ...rest });
    for (const event of events) {
      const attempt = event.eventId === line.eventId ? line.failures + 1 : 1;
      const outcome = await sender.send(event, { intakeId: line.intakeId, attempt });
      if (outcome !== "taken") {
        end({ next: { eventId: event.eventId, ...(outcome !== "not tried" && { failed: outcome }) } });
        return;
      }
      after = event.eventId;
    }
    end(isWhole || after === undefined ? {} : { next: nextAfter(events) });
  }

  return {
    taken,
    failed,
    lines,
    sendFresh: (all: readonly FeedEvent[][], atOnce: number) =>
      sideBySide(all, atOnce, (line) => sendLine(line, atOnce)),
    sendBlocked: (all: readonly BlockedLine[]) => sideBySide(all, LINES_AT_ONCE, sendWaiting),
  };
}

/** Where to continue when there are more events than fit a page. */
const nextAfter = (events: readonly ChainedEvent[]): { eventId: string } => ({ eventId: events.at(-1)?.eventId ?? "" });
