import { SUBMISSION_STATES } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { given } from "../../test/given.ts";
import type { DomainEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import { isEditable, isTerminal, mayMove, TRANSITIONS } from "./transitions.ts";

const stamp = { actor: { kind: "agent", id: "bot" }, now: 0, version: 1 } as const;

describe("the transition table", () => {
  it("[STATES-TERMINAL] nothing leads out of finalized, cancelled and expired, and out of everything else something does", () => {
    const ends = SUBMISSION_STATES.filter((state) => TRANSITIONS[state].length === 0);
    expect(ends.sort()).toEqual(["cancelled", "expired", "finalized"]);
    expect(SUBMISSION_STATES.filter(isTerminal).sort()).toEqual(ends);
  });

  it("[STATES-TABLE] holds the moves of the contract", () => {
    const moves = [
      ["draft", "in_progress"],
      ["in_progress", "awaiting_input"],
      ["in_progress", "awaiting_upload"],
      ["awaiting_input", "in_progress"],
      ["awaiting_upload", "in_progress"],
      ["in_progress", "submitted"],
      ["submitted", "needs_review"],
      ["submitted", "finalized"],
      ["needs_review", "approved"],
      ["needs_review", "rejected"],
      ["approved", "finalized"],
      ["rejected", "in_progress"],
    ] as const;
    for (const [from, to] of moves) expect([from, to, mayMove(from, to)]).toEqual([from, to, true]);
  });

  it("[STATES-TABLE] [STATES-ONLY-EDITABLE-EXPIRE] every state that is not final may be cancelled, only editable ones expire", () => {
    for (const state of SUBMISSION_STATES) {
      expect([state, mayMove(state, "cancelled")]).toEqual([state, !isTerminal(state) || state === "cancelled"]);
      expect([state, mayMove(state, "expired")]).toEqual([state, isEditable(state) || state === "expired"]);
    }
  });

  it("[STATES-TABLE] nothing skips submit, review or delivery", () => {
    for (const state of SUBMISSION_STATES.filter(isEditable)) {
      for (const later of ["needs_review", "approved", "finalized"] as const) expect(mayMove(state, later)).toBe(false);
    }
    expect(mayMove("needs_review", "finalized")).toBe(false);
    expect(mayMove("submitted", "in_progress")).toBe(false);
    expect(mayMove("approved", "rejected")).toBe(false);
  });

  it("[STATES-TABLE] an unknown move can't happen, whatever the event", () => {
    const { submission } = given({});
    const finalized: DomainEvent = { type: "submission.finalized" };
    expect(() => evolve(submission, finalized, stamp)).toThrow("from draft to finalized");
  });
});
