import { describe, expect, it } from "vitest";
import { EMPTY_HEADS } from "../../domain/chain.ts";
import type { Measure } from "../../ports/instrumentation.ts";
import { type Change, type Committed, StoreDown } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { type AuditNote, createAuditTrail } from "./audit-trail.ts";

const AGENT = { kind: "agent", id: "bot" } as const;

/** A store with one row per submission that can be told to fail or to lose a race. */
function scene() {
  const changes: Change[] = [];
  const measures: Measure[] = [];
  const answers: (Committed | Error)[] = [];
  const revisions = new Map<string, number>();
  const inFlight = { now: 0, most: 0 };
  const rowOf = (submissionId: string) => ({
    submission: {
      submissionId,
      tenant: "default",
      revision: revisions.get(submissionId) ?? 1,
      heads: EMPTY_HEADS,
      lastPerson: AGENT,
    },
  });
  let ids = 0;
  const deps = {
    backend: {
      store: {
        load: async ({ by }: { by: { id: string } }) => {
          inFlight.now += 1;
          inFlight.most = Math.max(inFlight.most, inFlight.now);
          await Promise.resolve();
          inFlight.now -= 1;
          return { now: 0, submission: rowOf(by.id) };
        },
        commit: async (change: Change): Promise<Committed> => {
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          if (answer !== undefined) return answer;
          changes.push(change);
          const { submissionId, revision } = change.row.submission;
          revisions.set(submissionId, revision);
          return { kind: "committed", at: 0 };
        },
      },
    },
    random: { newId: () => `evt_${++ids}`, salt: () => "salt" },
    wakeups: { notify: () => {}, subscribe: () => () => {} },
    instrumentation: { record: (measure: Measure) => measures.push(measure) },
  } as unknown as Deps;
  const counted = (outcome: string): number =>
    measures.reduce((sum, one) => sum + (one.name === "audit_notes" && one.outcome === outcome ? one.count : 0), 0);
  const events = () => changes.flatMap(({ events }) => events);
  return { trail: createAuditTrail(deps), changes, events, answers, counted, inFlight };
}

const noteOf = (submissionId: string, payload: AuditNote["payload"] = {}): AuditNote => ({
  type: "token.accessed",
  submission: { tenant: "default", submissionId, state: "draft", version: 1 },
  by: AGENT,
  payload: { operation: "getSubmission", ...payload },
  now: 0,
});
const down = (): Error => new StoreDown("away", "not_applied");

describe("audit notes", () => {
  it("equal reads are one event with a count and the slowest time; other addresses are others", async () => {
    const { trail, changes, events } = scene();
    for (const responseTimeMs of [3, 9, 5]) trail.note(noteOf("sub_1", { ipAddress: "10.0.0.1", responseTimeMs }));
    trail.note(noteOf("sub_1", { ipAddress: "10.0.0.2", responseTimeMs: 1 }));
    await trail.flush();
    expect(changes).toHaveLength(1);
    expect(events().map(({ payload }) => payload)).toEqual([
      { operation: "getSubmission", ipAddress: "10.0.0.1", responseTimeMs: 9, count: 3 },
      { operation: "getSubmission", ipAddress: "10.0.0.2", responseTimeMs: 1 },
    ]);
  });

  it("are written for a limited number of submissions at once, so that callers' writes don't wait behind all of them", async () => {
    const { trail, changes, inFlight } = scene();
    for (let one = 0; one < 300; one++) trail.note(noteOf(`sub_${one}`));
    await trail.flush();
    expect(changes).toHaveLength(300);
    expect(inFlight.most).toBe(64);
  });

  it("[EVENTS-AUDIT-KEPT] wait for the next flush when the store is down, and are all written then", async () => {
    const { trail, changes, answers, counted } = scene();
    for (let one = 0; one < 300; one++) trail.note(noteOf(`sub_${one}`));
    answers.push(...Array.from({ length: 64 }, down));
    await expect(trail.flush()).rejects.toThrow("audit notes");
    expect([changes.length, counted("retried")]).toEqual([0, 64]);
    await trail.flush();
    expect(changes).toHaveLength(300);
  });

  it("[EVENTS-AUDIT-KEPT] what the store refuses is written with the next flush, and the failure is reported and counted", async () => {
    const { trail, events, answers, counted } = scene();
    answers.push(down());
    trail.note(noteOf("sub_1"));
    await expect(trail.flush()).rejects.toThrow("audit notes");
    trail.note(noteOf("sub_1"));
    expect([events().length, counted("retried")]).toEqual([0, 1]);
    await trail.flush();
    expect(events().map(({ payload }) => payload?.count)).toEqual([2]);
    expect(counted("written")).toBe(2);
  });

  it("a note that lost every race is still written", async () => {
    const { trail, events, answers } = scene();
    const loaded = { now: 0, submission: { submission: { revision: 7, heads: EMPTY_HEADS } } };
    for (let race = 0; race < 16; race++) answers.push({ kind: "stale", loaded } as unknown as Committed);
    trail.note(noteOf("sub_1"));
    await expect(trail.flush()).rejects.toThrow("races");
    await trail.flush();
    expect(events()).toHaveLength(1);
  });

  it("a record is written when it resolves; without a store it waits, and nobody is refused", async () => {
    const { trail, events, answers } = scene();
    await trail.record(noteOf("sub_1"));
    expect(events()).toHaveLength(1);
    answers.push(down());
    await trail.record(noteOf("sub_1"));
    expect(events()).toHaveLength(1);
    await trail.flush();
    expect(events()).toHaveLength(2);
  });

  it("a hand-off is written once, however many readers noticed it", async () => {
    const { trail, events } = scene();
    const { submission } = noteOf("sub_1");
    const to = { kind: "human", id: "ada" } as const;
    const takeOver = { submission, by: to, to, use: { operation: "getSubmission" }, now: 0 };
    await Promise.all([trail.recordTakeOver(takeOver), trail.recordTakeOver(takeOver)]);
    expect(events().map(({ type }) => type)).toEqual(["token.handed_off"]);
  });

  it("memory is bounded: notes lose their details first, then they are counted as lost", async () => {
    const { trail, events, counted } = scene();
    const many = 20_000;
    for (let n = 0; n < many; n++) trail.note(noteOf("sub_1", { ipAddress: `address ${n}` }));
    for (let n = 0; n < 10; n++) trail.note(noteOf("sub_1", { ipAddress: `late address ${n}` }));
    for (let n = 0; n < 5_000; n++) trail.note(noteOf(`sub_other_${n}`));
    expect(counted("lost")).toBe(1);
    await expect(trail.flush()).rejects.toThrow("1 audit notes didn't fit");
    const bare = events().find(({ payload }) => payload?.ipAddress === undefined && payload?.count === 10);
    expect(bare?.submissionId).toBe("sub_1");
    expect(counted("written")).toBe(many + 10 + 4_999);
    await trail.flush();
  });
});
