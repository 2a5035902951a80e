import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainedEvent } from "../chained-event.ts";
import type { FeedEvent, FeedPage } from "./feed.ts";
import {
  afterRound,
  dueQueues,
  enabled,
  type FailedSend,
  MAX_BLOCKED,
  type QueueOutcome,
  queuesOf,
  readsFeed,
  retried,
  skipped,
} from "./round.ts";
import type { BlockedQueue, WebhookProgress } from "./webhook.ts";

const NOW = 1_000;
const CLOCK = { now: NOW, chance: 0 };
const START: WebhookProgress = {
  state: "active",
  position: 0,
  ahead: [],
  blocked: [],
  failures: 0,
  nextAttemptAt: 0,
};

const event = (position: number, submissionId: string): FeedEvent => ({
  position,
  intakeId: "contact",
  event: { submissionId, eventId: `${submissionId}${position}` } as ChainedEvent,
});
const feed = (submissions: string): FeedEvent[] => [...submissions].map((name, index) => event(index + 1, name));

function pageOf(events: FeedEvent[], after: number, limit = 100): FeedPage {
  const page = events.filter(({ position }) => position > after).slice(0, limit);
  return { events: page, position: page.at(-1)?.position ?? after };
}

/** The feed wasn't read. */
const NOTHING: FeedPage = { events: [], position: 5 };
const FAILED = { error: "502" };
interface Outcome {
  accepted?: number[];
  failed?: (FailedSend & { event: FeedEvent })[];
  queues?: QueueOutcome[];
}
const after = (
  progress: Partial<WebhookProgress>,
  page: FeedPage,
  { accepted = [], failed = [], queues = [] }: Outcome,
): WebhookProgress => afterRound({ ...START, ...progress }, { page, accepted, failed, queues }, CLOCK);
const positionsOf = (queues: FeedEvent[][]): number[][] => queues.map((queue) => queue.map(({ position }) => position));
const queueAt = (rest: Partial<BlockedQueue> = {}): BlockedQueue => ({
  submissionId: "b",
  intakeId: "contact",
  from: { position: 2 },
  eventId: "b2",
  last: "b5",
  failures: 1,
  nextAttemptAt: NOW,
  lastError: "502",
  ...rest,
});

describe("a page of the feed", () => {
  it("goes to the end when everything was accepted", () => {
    const page = { ...pageOf(feed("aba"), 0), position: 7 };
    const next = after({ failures: 3, lastError: "x" }, page, { accepted: [1, 2, 3] });
    expect(next).toEqual({ ...START, position: 7, nextAttemptAt: NOW });
  });

  it("[AUDIT-F32] moves past a refused event, and keeps its submission's queue", () => {
    const events = feed("abcab");
    const failed = [{ ...FAILED, event: event(2, "b") }];
    const next = after({}, pageOf(events, 0), { accepted: [1, 3, 4], failed });
    const nextAttemptAt = NOW + 1_000;
    expect(next).toMatchObject({ state: "active", position: 5, ahead: [], failures: 0, nextAttemptAt: NOW });
    expect(next.blocked).toEqual([queueAt({ nextAttemptAt })]);
    expect(next.retryAt).toBe(nextAttemptAt);
    const more = feed("abcabcb");
    expect(positionsOf(queuesOf(pageOf(more, 5), next))).toEqual([[6]]);
    const later = after(next, pageOf(more, 5), { accepted: [6] });
    expect(later).toMatchObject({ position: 7, blocked: [{ last: "b7", failures: 1 }] });
  });

  it("stops before what was not tried, and knows what was accepted after it", () => {
    const events = feed("abc");
    const next = after({}, pageOf(events, 0), { accepted: [1, 3] });
    expect(next).toMatchObject({ position: 1, ahead: [3], blocked: [] });
    expect(positionsOf(queuesOf(pageOf(events, 1), next))).toEqual([[2]]);
    // A refused event beyond it is tried again once the position has passed it.
    const ahead = after({}, pageOf(events, 0), { accepted: [1], failed: [{ ...FAILED, event: event(3, "c") }] });
    expect([ahead.position, ahead.retryAt, dueQueues(ahead, NOW + 99_000)]).toEqual([1, undefined, []]);
  });
});

describe("a blocked queue", () => {
  const waiting = { position: 5, blocked: [queueAt()], retryAt: NOW };

  it("is gone once it is empty, and moves on to the event that is refused next", () => {
    expect(dueQueues({ ...START, ...waiting }, NOW)).toHaveLength(1);
    expect(after(waiting, NOTHING, { queues: [{ submissionId: "b", after: "b5" }] }).blocked).toEqual([]);
    const moved = after({ ...waiting, blocked: [queueAt({ failures: 7 })] }, NOTHING, {
      queues: [{ submissionId: "b", after: "b2", next: { eventId: "b5", failed: FAILED } }],
    });
    expect(moved.blocked).toMatchObject([{ eventId: "b5", from: { after: "b2" }, failures: 1 }]);
    const untried = after(waiting, NOTHING, {
      queues: [{ submissionId: "b", after: "b2", next: { eventId: "b5" } }],
    });
    expect(untried.blocked).toMatchObject([{ eventId: "b5", failures: 0, nextAttemptAt: NOW }]);
  });

  it("[AUDIT-F32] is dead after its tenth failure, which disables nothing", () => {
    const queues = [{ submissionId: "b", next: { eventId: "b2", failed: FAILED } }];
    const ninth = after({ ...waiting, blocked: [queueAt({ failures: 8 })] }, NOTHING, { queues });
    expect(ninth.blocked[0]).toMatchObject({ failures: 9 });
    const tenth = after(ninth, NOTHING, { queues });
    expect(tenth).toMatchObject({ state: "active", failures: 0, blocked: [{ failures: 10, dead: true }] });
    expect([tenth.retryAt, dueQueues(tenth, NOW * 1_000)]).toEqual([undefined, []]);
    expect(retried(tenth, new Set(["b2"]), NOW)).toMatchObject({ retryAt: NOW, blocked: [{ failures: 0 }] });
    const out = skipped(tenth, new Set(["b2"]), NOW);
    expect(out.blocked).toMatchObject([{ from: { after: "b2" }, failures: 0, nextAttemptAt: NOW }]);
    expect(out.blocked[0]).not.toHaveProperty("dead");
    expect(skipped({ ...tenth, blocked: [queueAt({ last: "b2" })] }, new Set(["b2"]), NOW).blocked).toEqual([]);
  });

  it("an event that is skipped before the position has passed it is not sent from the feed either", () => {
    const ahead = { ...START, position: 1, blocked: [queueAt({ last: "b2" })] };
    expect(skipped(ahead, new Set(["b2"]), NOW)).toMatchObject({ ahead: [2], blocked: [] });
  });
});

describe("the webhook as a whole", () => {
  const page = pageOf(feed("abcdefgh"), 0);
  const failing = (...positions: number[]) =>
    positions.map((position) => ({ ...FAILED, event: page.events[position - 1] as FeedEvent }));

  it("[AUDIT-F32] pauses only when several submissions in a row are refused with nothing accepted in between", () => {
    const first = after({}, pageOf(feed("a"), 0), { failed: failing(1) });
    expect(first).toMatchObject({ failures: 1, nextAttemptAt: NOW });
    const second = after(first, pageOf(feed("ab"), 1), { failed: failing(2) });
    expect(second).toMatchObject({ failures: 2, nextAttemptAt: NOW + 1_000, lastError: "502" });
    expect(after(second, pageOf(feed("abc"), 2), { accepted: [3] })).toMatchObject({ failures: 0 });
    expect(after({}, page, { failed: failing(1, 2, 3) })).toMatchObject({ failures: 2, nextAttemptAt: NOW + 1_000 });
    expect(after({}, page, { accepted: [4], failed: failing(1, 2) })).toMatchObject({
      failures: 0,
      nextAttemptAt: NOW,
    });
  });

  it("is disabled after the tenth strike, or when the receiver asks to stop; when enabled, everything is tried again", () => {
    expect(after({ failures: 8 }, page, { failed: failing(1) }).state).toBe("active");
    const over = after({ failures: 9 }, page, { failed: failing(1) });
    expect(over).toMatchObject({ state: "disabled", failures: 10, lastError: "502" });
    const gone = after({}, page, { accepted: [2], failed: [{ ...failing(1)[0], final: true } as never] });
    expect(gone).toMatchObject({ state: "disabled", failures: 1, lastError: "502" });
    const dead = { ...over, blocked: [queueAt({ failures: 10, dead: true })], position: 9 };
    expect(enabled(dead, NOW + 1)).toMatchObject({ state: "active", failures: 0, retryAt: NOW + 1 });
  });

  it("waits as long as the receiver asks, with everything", () => {
    const asked = after({}, page, { accepted: [2], failed: [{ ...failing(1)[0], retryAfterMs: 50_000 } as never] });
    expect(asked).toMatchObject({ nextAttemptAt: NOW + 50_000, retryAt: NOW + 50_000 });
    expect(readsFeed(asked, NOW + 49_999)).toBe(false);
  });

  it("[AUDIT-F32] reads no further while too many submissions are blocked", () => {
    const blocked = Array.from({ length: MAX_BLOCKED }, (_, n) =>
      queueAt({ submissionId: `s${n}`, nextAttemptAt: NOW + 500 }),
    );
    const full = after({ position: 9, blocked }, { events: [], position: 9 }, {});
    expect([readsFeed(full, NOW + 400), full.retryAt, full.nextAttemptAt]).toEqual([false, NOW + 500, NOW + 500]);
    const dead = after(
      { position: 9, blocked: blocked.map((queue) => ({ ...queue, dead: true })) },
      { events: [], position: 9 },
      {},
    );
    expect([dead.retryAt, dead.nextAttemptAt]).toEqual([undefined, NOW + 3_600_000]);
  });
});

it("[WEBHOOK-ORDER] [WEBHOOK-COMPLETE] [AUDIT-F32] whatever fails when, each submission's events are accepted in order, each once", () => {
  const history = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 });
  const luck = fc.array(fc.constantFrom("accepted", "failed", "not tried"), { minLength: 1, maxLength: 60 });
  const moves = fc.array(fc.record({ written: fc.nat(5), waits: fc.nat(3) }), { maxLength: 40 });
  fc.assert(
    fc.property(history, luck, moves, fc.integer({ min: 1, max: 7 }), (names, fates, rounds, limit) => {
      const events = feed(names.join(""));
      const accepted: FeedEvent[] = [];
      const fate = fates.values();
      let progress = START;
      let now = NOW;
      let visible = 0;
      /** The blocked events as the operation reads them. */
      function eventsIn({ submissionId, from, eventId, last }: BlockedQueue): FeedEvent[] {
        const own = events.filter((one) => one.event.submissionId === submissionId);
        const indexOf = (id: string): number => own.findIndex((one) => one.event.eventId === id);
        return own.slice("after" in from ? indexOf(from.after) + 1 : indexOf(eventId), indexOf(last) + 1);
      }
      function round(): void {
        const page = readsFeed(progress, now)
          ? pageOf(events.slice(0, visible), progress.position, limit)
          : { events: [], position: progress.position };
        const own: number[] = [];
        const failed: (FailedSend & { event: FeedEvent })[] = [];
        const queues: QueueOutcome[] = [];
        for (const queue of queuesOf(page, progress)) {
          for (const one of queue) {
            const came = fate.next().value ?? "accepted";
            if (came === "failed") failed.push({ ...FAILED, event: one });
            if (came !== "accepted") break;
            accepted.push(one);
            own.push(one.position);
          }
        }
        for (const queue of dueQueues(progress, now)) {
          const outcome: QueueOutcome = { submissionId: queue.submissionId };
          for (const one of eventsIn(queue)) {
            const came = fate.next().value ?? "accepted";
            const { eventId } = one.event;
            if (came !== "accepted") {
              outcome.next = { eventId, ...(came === "failed" && { failed: FAILED }) };
              break;
            }
            accepted.push(one);
            outcome.after = eventId;
          }
          queues.push(outcome);
        }
        const next = afterRound(progress, { page, accepted: own, failed, queues }, { now, chance: 0 });
        expect(next.position).toBeGreaterThanOrEqual(progress.position);
        progress = enabledIfOver(next, now);
      }
      for (const { written, waits } of rounds) {
        visible = Math.min(visible + written, events.length);
        now += waits * 700;
        round();
      }
      visible = events.length;
      for (let left = 0; left < 500 && (progress.position < events.length || progress.blocked.length > 0); left++) {
        const { position, nextAttemptAt, retryAt = nextAttemptAt } = progress;
        now = Math.max(now + 1, position < events.length ? nextAttemptAt : retryAt);
        round();
      }
      for (const [name, queue] of Map.groupBy(accepted, ({ event: { submissionId } }) => submissionId)) {
        expect(queue).toEqual(events.filter(({ event: { submissionId } }) => submissionId === name));
      }
      expect(accepted).toHaveLength(events.length);
    }),
    { numRuns: 2_000 },
  );
});

const enabledIfOver = (progress: WebhookProgress, now: number): WebhookProgress =>
  progress.state === "disabled" || progress.blocked.some(({ dead }) => dead) ? enabled(progress, now) : progress;
