/**
 * A round sends a page of the feed: the events of each submission in order, submissions concurrently.
 *
 *   feed after position:   a1 b1 c1 a2 b2     b1 is refused, so b2 is not tried
 *   accepted:              a1 -- c1 a2 --
 *   afterwards:            position b2, blocked { b: from b1 to b2 }
 *
 * The position moves past the waiting events of a blocked submission, so a refused event delays only its own
 * submission. A blocked submission is retried on its own schedule; once it has caught up with the position, it is read
 * from the feed again. While too many submissions are blocked, the feed isn't read further.
 *
 * One refused event says little about the receiver; several submissions in a row, with nothing accepted in between,
 * mean that it is down. Only these strikes pause the whole webhook, and disable it in the end.
 */

import { retryDelay } from "../delivery/retry-delay.ts";
import { HOUR, type Instant } from "../instant.ts";
import type { FeedEvent, FeedPage, FeedPosition } from "./feed.ts";
import type { BlockedQueue, WebhookProgress } from "./webhook.ts";

/** The feed isn't read further while this many submissions are blocked. */
export const MAX_BLOCKED = 100;

/** Whether to read further in the feed now. */
export const readsFeed = ({ nextAttemptAt, blocked }: WebhookProgress, now: Instant): boolean =>
  nextAttemptAt <= now && blocked.length < MAX_BLOCKED;

/** What to send of a page, by submission. */
export function queuesOf(page: FeedPage, { ahead, blocked }: WebhookProgress): FeedEvent[][] {
  const accepted = new Set(ahead);
  const waiting = new Set(blocked.map(({ submissionId }) => submissionId));
  const open = page.events.filter(({ position, event }) => !accepted.has(position) && !waiting.has(event.submissionId));
  return [...Map.groupBy(open, ({ event }) => event.submissionId).values()];
}

/** Whether the feed position has passed the queue's first event; before that, the event is still read from the feed. */
const isPassed = ({ from }: BlockedQueue, position: FeedPosition): boolean =>
  !("position" in from) || from.position <= position;

const isWaiting = (queue: BlockedQueue, { position }: Pick<WebhookProgress, "position">): boolean =>
  queue.dead !== true && isPassed(queue, position);

/** The blocked submissions that are due for a retry. */
export const dueQueues = (progress: WebhookProgress, now: Instant): BlockedQueue[] =>
  progress.nextAttemptAt > now && progress.blocked.length < MAX_BLOCKED
    ? []
    : progress.blocked.filter((queue) => isWaiting(queue, progress) && queue.nextAttemptAt <= now);

function withRetryAt({ retryAt: _, ...progress }: WebhookProgress): WebhookProgress {
  const times = progress.blocked
    .filter((queue) => isWaiting(queue, progress))
    .map(({ nextAttemptAt }) => nextAttemptAt);
  if (times.length === 0) return progress;
  const first = Math.min(...times);
  // When full, the feed waits for the blocked submissions.
  const retryAt = progress.blocked.length < MAX_BLOCKED ? Math.max(first, progress.nextAttemptAt) : first;
  return { ...progress, retryAt };
}

export interface FailedSend {
  error: string;
  final?: true;
  retryAfterMs?: number;
}

/** The outcome of retrying a blocked submission. */
export interface QueueOutcome {
  submissionId: string;
  /** The last accepted event, if any. */
  after?: string;
  /** The first event that wasn't accepted, and why, if it was tried. Absent if none is left. */
  next?: { eventId: string; failed?: FailedSend };
}

export interface Round {
  /** Empty if the feed wasn't read. */
  page: FeedPage;
  /** Which events of the page were accepted, and which refused. The rest wasn't tried. */
  accepted: readonly FeedPosition[];
  failed: readonly (FailedSend & { event: FeedEvent })[];
  /** The blocked submissions that were retried. */
  queues: readonly QueueOutcome[];
}

interface Clock {
  now: Instant;
  /** Random, between 0 and 1. */
  chance: number;
}

/** The webhook's progress after a round. */
export function afterRound(progress: WebhookProgress, round: Round, clock: Clock): WebhookProgress {
  const kept = progress.blocked.flatMap((queue) => queueAfter(queue, round.queues, clock));
  const added = round.failed.map((failed) => newQueue(failed, clock));
  const { position, ahead } = cursorAfter(progress, round, [...kept, ...added]);
  const blocked = [...kept, ...added].map((queue) => extended(queue, round.page, position));
  return withRetryAt(withState({ ...progress, position, ahead, blocked }, round, clock));
}

/** Moves the position past events that were accepted or are waiting in a blocked submission. */
function cursorAfter(
  progress: WebhookProgress,
  { page, accepted }: Round,
  queues: readonly BlockedQueue[],
): Pick<WebhookProgress, "position" | "ahead"> {
  const done = new Set([...progress.ahead, ...accepted]);
  const waiting = new Set(queues.map(({ submissionId }) => submissionId));
  const open = page.events.findIndex((one) => !done.has(one.position) && !waiting.has(one.event.submissionId));
  const position = open === -1 ? page.position : (page.events[open - 1]?.position ?? progress.position);
  return { position, ahead: [...done].filter((other) => other > position).sort((one, other) => one - other) };
}

function newQueue({ event, ...failed }: FailedSend & { event: FeedEvent }, clock: Clock): BlockedQueue {
  const { eventId, submissionId } = event.event;
  const from = { position: event.position };
  return { submissionId, intakeId: event.intakeId, from, eventId, last: eventId, ...refused(failed, 1, clock) };
}

function refused(
  { error, retryAfterMs }: FailedSend,
  failures: number,
  { now, chance }: Clock,
): Pick<BlockedQueue, "failures" | "nextAttemptAt" | "lastError" | "dead"> {
  const delay = retryDelay(undefined, { tries: failures, chance, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  const waits = delay === undefined ? { nextAttemptAt: now, dead: true as const } : { nextAttemptAt: now + delay };
  return { failures, lastError: error, ...waits };
}

function queueAfter(queue: BlockedQueue, outcomes: readonly QueueOutcome[], clock: Clock): BlockedQueue[] {
  const outcome = outcomes.find(({ submissionId }) => submissionId === queue.submissionId);
  if (outcome === undefined) return [queue];
  const { after, next } = outcome;
  if (next === undefined) return [];
  const { eventId, failed } = next;
  const { submissionId, intakeId, last } = queue;
  const rest = { submissionId, intakeId, last, eventId, from: after === undefined ? queue.from : { after } };
  if (failed === undefined) return [{ ...rest, failures: 0, nextAttemptAt: clock.now }];
  const failures = eventId === queue.eventId ? queue.failures + 1 : 1;
  return [{ ...rest, ...refused(failed, failures, clock) }];
}

/** Events of a blocked submission that the position has passed wait with it. */
function extended(queue: BlockedQueue, { events }: FeedPage, position: FeedPosition): BlockedQueue {
  const start = "position" in queue.from ? queue.from.position : 0;
  const last = events.findLast(
    (one) => one.event.submissionId === queue.submissionId && one.position > start && one.position <= position,
  );
  return last === undefined ? queue : { ...queue, last: last.event.eventId };
}

/** A single refused event is no strike; a second submission in a row is, with nothing accepted in between. */
const DOWN = 2;

/** How the webhook as a whole is doing. */
function withState(next: WebhookProgress, round: Round, { now, chance }: Clock): WebhookProgress {
  const { lastError: before, ...progress } = next;
  const tried = [...round.failed, ...round.queues.flatMap(({ next: one }) => one?.failed ?? [])];
  const isAlive = round.accepted.length > 0 || round.queues.some(({ after }) => after !== undefined);
  const isStruck = !isAlive && round.failed.length > 0;
  const failures = isAlive
    ? 0
    : isStruck
      ? Math.max(progress.failures + 1, Math.min(round.failed.length, DOWN))
      : progress.failures;
  const lastError = isAlive ? undefined : (round.failed[0]?.error ?? before);
  const final = tried.find((one) => one.final);
  if (final !== undefined) {
    return { ...progress, state: "disabled", failures: failures || 1, nextAttemptAt: now, lastError: final.error };
  }
  const told = { failures, ...(lastError !== undefined && { lastError }) };
  if (isStruck && retryDelay(undefined, { tries: failures, chance }) === undefined) {
    return { ...progress, ...told, state: "disabled", nextAttemptAt: now };
  }
  const strikes = isStruck && failures >= DOWN ? retryDelay(undefined, { tries: failures - 1, chance }) : 0;
  const wait = Math.max(strikes ?? 0, ...tried.map(({ retryAfterMs = 0 }) => retryAfterMs));
  const going: WebhookProgress = { ...progress, ...told, nextAttemptAt: Math.max(progress.nextAttemptAt, now + wait) };
  // When full, there is nothing to do until a retry is due or an operator intervenes.
  if (going.blocked.length < MAX_BLOCKED) return going;
  return { ...going, nextAttemptAt: Math.max(going.nextAttemptAt, withRetryAt(going).retryAt ?? now + HOUR) };
}

/** Continues where it stopped, including everything that was given up. */
export const enabled = ({ lastError: _, ...progress }: WebhookProgress, now: Instant): WebhookProgress =>
  withRetryAt({
    ...progress,
    state: "active",
    failures: 0,
    nextAttemptAt: now,
    blocked: progress.blocked.map((queue) => revived(queue, now)),
  });

const revived = ({ dead: _, ...queue }: BlockedQueue, now: Instant): BlockedQueue => ({
  ...queue,
  failures: 0,
  nextAttemptAt: now,
});

/** Retries the submissions blocked at these events at once. */
export const retried = (progress: WebhookProgress, events: ReadonlySet<string>, now: Instant): WebhookProgress =>
  withRetryAt({
    ...progress,
    nextAttemptAt: now,
    blocked: progress.blocked.map((queue) => (events.has(queue.eventId) ? revived(queue, now) : queue)),
  });

/** Skips these events: their submissions continue with the next one. */
export function skipped(progress: WebhookProgress, events: ReadonlySet<string>, now: Instant): WebhookProgress {
  const out = progress.blocked.filter(({ eventId }) => events.has(eventId));
  const behind = out.flatMap(({ from }) =>
    "position" in from && from.position > progress.position ? [from.position] : [],
  );
  return withRetryAt({
    ...progress,
    nextAttemptAt: now,
    ahead: [...progress.ahead, ...behind].sort((one, other) => one - other),
    blocked: progress.blocked.flatMap((queue) => {
      if (!events.has(queue.eventId)) return [queue];
      const isOver = queue.eventId === queue.last || !isPassed(queue, progress.position);
      return isOver ? [] : [{ ...revived(queue, now), from: { after: queue.eventId } }];
    }),
  });
}
