/**
 * A round sends what a page of the feed holds: one line of events a submission, lines side by side, each in order.
 *
 *   feed after position:   a1 b1 c1 a2 b2     b1 fails, so b2 is not tried
 *   taken:                 a1 -- c1 a2 --
 *   afterwards:            position a1, ahead c1 a2, aside { seen: b2, stuck: b }
 *
 * Until b1 is tried again, rounds go on behind what was seen, without b, unless the receiver takes nothing else either. A round
 * whose time has come starts at the position: it sends b1, b2, and whatever else was not taken.
 */
import type { FeedEvent, FeedPage, FeedPosition } from "../../ports/events.ts";
import { retryDelay } from "../delivery/retry-delay.ts";
import type { Instant } from "../instant.ts";
import type { WebhookProgress } from "./webhook.ts";

/** What is remembered beyond an event that is not taken has an end. */
const MAX_ASIDE = 500;

/** Where a round starts: at what was seen last, as long as it is not yet time for what stands at the position. */
export const startOf = ({ nextAttemptAt, position, aside }: WebhookProgress, now: Instant): FeedPosition =>
  nextAttemptAt > now && aside !== undefined ? aside.seen : position;

/** What is still to be sent of a page, by submission. */
export function linesOf(page: FeedPage, { ahead, aside, nextAttemptAt }: WebhookProgress, now: Instant): FeedEvent[][] {
  const taken = new Set(ahead);
  const stuck = new Set(nextAttemptAt > now ? aside?.stuck : []);
  const open = page.events.filter(({ position, event }) => !taken.has(position) && !stuck.has(event.submissionId));
  return [...Map.groupBy(open, ({ event }) => event.submissionId).values()];
}

export interface FailedSend {
  error: string;
  final?: true;
  retryAfterMs?: number;
}

export interface Round {
  /** When it began. */
  began: Instant;
  page: FeedPage;
  /** What the receiver took in this round. */
  taken: readonly FeedPosition[];
  failed: readonly FailedSend[];
}

/** Where a webhook stands after a round. What was neither taken nor failed was not tried. */
export function afterRound(
  progress: WebhookProgress,
  round: Round,
  { now, chance }: { now: Instant; chance: number },
): WebhookProgress {
  const final = round.failed.find((one) => one.final);
  const after = progress.nextAttemptAt > round.began ? afterAside : afterAttempt;
  const next = after(progress, round, { now, chance });
  if (final === undefined) return next;
  return { ...withoutAside(next), state: "disabled", failures: next.failures || 1, lastError: final.error };
}

type AfterRound = typeof afterRound;

/** Started at the position: everything that was not taken had its turn. */
const afterAttempt: AfterRound = (progress, { page, taken, failed }, { now, chance }) => {
  const done = new Set([...progress.ahead, ...taken]);
  const open = page.events.findIndex((event) => !done.has(event.position));
  const position = open === -1 ? page.position : (page.events[open - 1]?.position ?? progress.position);
  const ahead = [...done].filter((other) => other > position).sort((one, other) => one - other);
  const [first] = failed;
  if (first === undefined) {
    const next = { state: "active" as const, position, ahead, failures: 0, nextAttemptAt: now };
    const { failures, lastError } = progress;
    // A round that could not try anything tells nothing.
    return taken.length > 0 || lastError === undefined ? next : { ...next, failures, lastError };
  }
  // Only what stands in the way again is counted: a receiver that fails now and then, and goes on, is not given up.
  const tries = position > progress.position ? 1 : progress.failures + 1;
  const retryAfterMs = waitOf(failed);
  const delay = retryDelay(undefined, { tries, chance, retryAfterMs });
  const rest = { position, ahead, failures: tries, lastError: first.error };
  if (delay === undefined) return { ...rest, state: "disabled", nextAttemptAt: now };
  const aside = { seen: page.position, stuck: stuckIn(page, done) };
  const next: WebhookProgress = { ...rest, state: "active", nextAttemptAt: now + delay };
  return retryAfterMs === 0 ? withAside(next, aside) : next;
};

/** Started behind what was seen: what is stuck was not tried, and its time stays. */
const afterAside: AfterRound = (progress, { page, taken, failed }, { now }) => {
  const done = new Set([...progress.ahead, ...taken]);
  const ahead = [...done].sort((one, other) => one - other);
  const wait = waitOf(failed);
  const nextAttemptAt = Math.max(progress.nextAttemptAt, now + wait);
  const stuck = [...new Set([...(progress.aside?.stuck ?? []), ...stuckIn(page, done)])];
  const next: WebhookProgress = { ...withoutAside(progress), ahead, nextAttemptAt };
  // A receiver that takes nothing else either, or asks for time, is down: everything waits.
  const isOver = wait > 0 || (failed.length > 0 && taken.length === 0);
  return isOver ? next : withAside(next, { seen: page.position, stuck });
};

const waitOf = (failed: readonly FailedSend[]): number => Math.max(0, ...failed.map((one) => one.retryAfterMs ?? 0));

const stuckIn = (page: FeedPage, done: ReadonlySet<FeedPosition>): string[] => [
  ...new Set(page.events.filter(({ position }) => !done.has(position)).map(({ event }) => event.submissionId)),
];

function withAside(progress: WebhookProgress, aside: NonNullable<WebhookProgress["aside"]>): WebhookProgress {
  return progress.ahead.length + aside.stuck.length < MAX_ASIDE ? { ...progress, aside } : progress;
}

function withoutAside({ aside: _, ...progress }: WebhookProgress): WebhookProgress {
  return progress;
}
