import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FeedEvent, FeedPage } from "../../ports/events.ts";
import type { ChainedEvent } from "../../ports/store.ts";
import { afterRound, type FailedSend, linesOf, startOf } from "./round.ts";
import type { WebhookProgress } from "./webhook.ts";

const NOW = 1_000;
const CLOCK = { now: NOW, chance: 0 };
const START: WebhookProgress = { state: "active", position: 0, ahead: [], failures: 0, nextAttemptAt: 0 };

const event = (position: number, submissionId: string): FeedEvent => ({
  position,
  intakeId: "contact",
  event: { submissionId } as ChainedEvent,
});
const feed = (submissions: string): FeedEvent[] => [...submissions].map((name, index) => event(index + 1, name));

function pageOf(events: FeedEvent[], after: number, limit = 100): FeedPage {
  const page = events.filter(({ position }) => position > after).slice(0, limit);
  return { events: page, position: page.at(-1)?.position ?? after };
}

interface Outcome {
  taken?: number[];
  failed?: FailedSend[];
}
const after = (progress: Partial<WebhookProgress>, page: FeedPage, { taken = [], failed = [] }: Outcome) =>
  afterRound({ ...START, ...progress }, { began: NOW, page, taken, failed }, CLOCK);
const positionsOf = (lines: FeedEvent[][]): number[][] => lines.map((line) => line.map(({ position }) => position));
const FAILED = { error: "502" };

describe("a round from the position", () => {
  it("goes to the end when everything was taken", () => {
    const page = { ...pageOf(feed("aba"), 0), position: 7 };
    const next = after({ failures: 3, lastError: "x" }, page, { taken: [1, 2, 3] });
    expect(next).toEqual({ ...START, position: 7, nextAttemptAt: NOW });
  });

  it("stays before what was not taken, and knows what was taken beyond it", () => {
    const events = feed("abcab");
    const next = after({}, pageOf(events, 0), { taken: [1, 3, 4], failed: [FAILED] });
    const aside = { seen: 5, stuck: ["b"] };
    expect(next).toMatchObject({ state: "active", position: 1, ahead: [3, 4], aside, failures: 1, lastError: "502" });
    expect(positionsOf(linesOf(pageOf(events, 1), next, next.nextAttemptAt))).toEqual([[2, 5]]);
  });

  it("counts as failures only what stands in the way again", () => {
    const page = pageOf(feed("ab"), 0);
    expect(after({ failures: 4 }, page, { taken: [2], failed: [FAILED] }).failures).toBe(5);
    expect(after({ failures: 4 }, page, { taken: [1], failed: [FAILED] }).failures).toBe(1);
    expect(after({ failures: 4, lastError: "x" }, page, {})).toMatchObject({ failures: 4, lastError: "x" });
  });

  it("ends with the last attempt, or with one that is final, and waits as long as the receiver asks", () => {
    const page = pageOf(feed("ab"), 0);
    expect(after({ failures: 8 }, page, { failed: [FAILED] }).state).toBe("active");
    const last = after({ failures: 9 }, page, { failed: [FAILED] });
    expect(last).toMatchObject({ state: "disabled", lastError: "502", failures: 10 });
    const gone = after({}, page, { taken: [1], failed: [FAILED, { error: "gone", final: true }] });
    expect(gone).toMatchObject({ state: "disabled", lastError: "gone", position: 1, failures: 1 });
    expect(gone.aside).toBeUndefined();
    const asked = after({}, page, { taken: [2], failed: [{ ...FAILED, retryAfterMs: 50_000 }] });
    expect([asked.nextAttemptAt, asked.aside]).toEqual([NOW + 50_000, undefined]);
  });
});

describe("a round aside", () => {
  const aside = { seen: 3, stuck: ["b"] };
  const waiting = { position: 1, ahead: [3], aside, failures: 2, nextAttemptAt: NOW + 5_000, lastError: "502" };
  const events = feed("abcbcd");

  it("goes on behind what was seen, without what is stuck, and leaves its time as it was", () => {
    const progress = { ...START, ...waiting };
    expect(startOf(progress, NOW)).toBe(3);
    const page = pageOf(events, 3);
    expect(positionsOf(linesOf(page, progress, NOW))).toEqual([[5], [6]]);
    const next = after(waiting, page, { taken: [5], failed: [FAILED] });
    expect(next).toEqual({ ...progress, ahead: [3, 5], aside: { seen: 6, stuck: ["b", "d"] } });
    expect(startOf(next, NOW + 5_000)).toBe(1);
    expect(positionsOf(linesOf(pageOf(events, 1), next, NOW + 5_000))).toEqual([[2, 4], [6]]);
  });

  it("ends when nothing is taken any more, when the receiver asks for time, or when it is too far ahead", () => {
    const page = pageOf(events, 3);
    expect(after(waiting, page, { failed: [FAILED] }).aside).toBeUndefined();
    const asked = after(waiting, page, { taken: [6], failed: [{ ...FAILED, retryAfterMs: 60_000 }] });
    expect([asked.aside, asked.nextAttemptAt]).toEqual([undefined, NOW + 60_000]);
    const ahead = Array.from({ length: 499 }, (_, index) => -index);
    expect(after({ ...waiting, ahead }, page, { taken: [5, 6] }).aside).toBeUndefined();
    expect(after(waiting, page, { failed: [{ error: "gone", final: true }] }).state).toBe("disabled");
  });
});

it("[WEBHOOK-ORDER] [WEBHOOK-COMPLETE] whatever fails when, each submission's events are taken in order, each once", () => {
  const history = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 });
  const luck = fc.array(fc.boolean(), { minLength: 1, maxLength: 60 });
  const moves = fc.array(fc.record({ written: fc.nat(5), waits: fc.boolean() }), { maxLength: 40 });
  fc.assert(
    fc.property(history, luck, moves, fc.integer({ min: 1, max: 7 }), (names, fates, rounds, limit) => {
      const events = feed(names.join(""));
      const taken: FeedEvent[] = [];
      const fate = fates.values();
      const isTaken = (): boolean => fate.next().value ?? true;
      let progress = START;
      let now = NOW;
      let visible = 0;
      function round(): void {
        const page = pageOf(events.slice(0, visible), startOf(progress, now), limit);
        const own: number[] = [];
        const failed: FailedSend[] = [];
        for (const line of linesOf(page, progress, now)) {
          for (const one of line) {
            if (!isTaken()) {
              failed.push(FAILED);
              break;
            }
            taken.push(one);
            own.push(one.position);
          }
        }
        const next = afterRound(progress, { began: now, page, taken: own, failed }, { now, chance: 0 });
        expect(next.position).toBeGreaterThanOrEqual(progress.position);
        progress = { ...next, state: "active", failures: Math.min(next.failures, 3) };
      }
      for (const { written, waits } of rounds) {
        visible = Math.min(visible + written, events.length);
        if (waits) now = Math.max(now, progress.nextAttemptAt);
        if (progress.nextAttemptAt <= now || progress.aside !== undefined) round();
      }
      visible = events.length;
      for (let left = 0; left < 500 && progress.position < events.length; left++) {
        now = Math.max(now, progress.nextAttemptAt);
        round();
      }
      for (const [name, line] of Map.groupBy(taken, ({ event: { submissionId } }) => submissionId)) {
        expect(line).toEqual(events.filter(({ event: { submissionId } }) => submissionId === name));
      }
      expect(taken).toHaveLength(events.length);
    }),
    { numRuns: 2_000 },
  );
});
