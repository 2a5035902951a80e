import { describe, expect, it } from "vitest";
import type { KeyRef } from "../idempotency/key-record.ts";
import type { Submission } from "../submission.ts";
import { countReplay, decideReplays, replaysOf } from "./replay.ts";

const by = { kind: "agent", id: "bot" } as const;
const key = (operation: KeyRef["operation"], name: string): KeyRef => ({ operation, hash: name.padEnd(64, "-") });
/** The part of a submission that a replay reads. */
const untouched = { replayCount: 0 } as Submission;

function replayed(submission: Submission, refs: readonly KeyRef[]): { after: Submission; numbers: number[] } {
  const { events } = decideReplays(
    submission,
    refs.map((ref) => ({ ref, by })),
  );
  return { after: events.reduce(countReplay, submission), numbers: events.map(({ replayNumber }) => replayNumber) };
}

describe("[AUDIT-F20] the count of a replay", () => {
  it("counts each key separately, also when several are replayed at once", () => {
    const [create, one, other] = [key("create", "a"), key("submit", "a"), key("setFields", "a")];
    const first = replayed(untouched, [create, one, create, other, one]);
    expect(first.numbers).toEqual([1, 1, 2, 1, 2]);
    const second = replayed(first.after, [one, create]);
    expect(second.numbers).toEqual([3, 3]);
    expect([create, one, other].map((ref) => replaysOf(second.after, ref))).toEqual([3, 3, 1]);
  });

  it("only replays of the create raise replayCount", () => {
    expect(replayed(untouched, [key("submit", "a"), key("setFields", "b")]).after.replayCount).toBe(0);
    expect(replayed(untouched, [key("create", "a"), key("setFields", "b")]).after.replayCount).toBe(1);
  });

  it("forgets the keys that were not replayed for longest, so that the row stays small", () => {
    const refs = Array.from({ length: 200 }, (_, index) => key("setFields", `k${index}`));
    const { after } = replayed(untouched, [...refs, key("setFields", "k0"), key("setFields", "new")]);
    expect(Object.keys(after.keyReplays ?? {})).toHaveLength(200);
    expect(replaysOf(after, key("setFields", "k0"))).toBe(2);
    expect(replaysOf(after, key("setFields", "k1"))).toBe(0);
    expect(replaysOf(after, key("setFields", "new"))).toBe(1);
  });

  it("names the event of the original request", () => {
    const ref = key("submit", "a");
    expect(decideReplays(untouched, [{ ref, by, originalEventId: "evt_1" }])).toEqual({
      token: "keep",
      events: [{ type: "submission.replayed", ref, by, replayNumber: 1, originalEventId: "evt_1" }],
    });
  });
});
