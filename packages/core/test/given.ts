import type { Actor, IntakeDefinition } from "@formbridge/contract";
import { decideCreateSubmission, initialSubmission } from "../src/domain/decide/create-submission.ts";
import type { DecideContext, Decision } from "../src/domain/decide/decision.ts";
import { compileIntake } from "../src/domain/intake/compile-intake.ts";
import { type Plan, planChange } from "../src/domain/plan-change.ts";
import { DEFAULT_POLICY } from "../src/domain/policy.ts";
import type { Submission } from "../src/domain/submission.ts";

const AGENT: Actor = { kind: "agent", id: "bot" };
const START = Date.parse("2026-03-01T12:00:00.000Z");

type Decide = (submission: Submission, context: DecideContext) => Decision;

/** One submission in the domain, without store or transport: given earlier decisions, when something is decided, then check. */
export interface Scene {
  submission: Submission;
  /** The outcome of the last decision. */
  decision: Decision;
  /** What the last decision wrote, if anything. */
  events: string[];
  when(decide: Decide, as?: Actor): Scene;
}

/** A submission of an intake with these properties, filled with these fields. */
export function given(definition: Partial<IntakeDefinition>, fields: Record<string, unknown> = {}): Scene {
  const intake = compileIntake({
    id: "t",
    version: "1",
    name: "T",
    schema: { type: "object" },
    destination: { kind: "store" },
    ...definition,
  });
  let ids = 0;
  const contextOf = (actor: Actor): DecideContext => ({
    now: START,
    actor,
    intake,
    policy: DEFAULT_POLICY,
    newId: (prefix) => `${prefix}_${++ids}`,
  });
  const plan = (before: Submission, decision: Decision, actor: Actor): Plan =>
    planChange(before, {
      operation: "test",
      decision,
      actor,
      now: START,
      intake,
      policy: DEFAULT_POLICY,
      mint: { newId: () => `evt_${++ids}`, salt: () => "salt" },
      nextToken: "hash",
    });
  const scene = (before: Submission, decision: Decision, actor: Actor): Scene => {
    const unchanged = decision.events.length === 0 && decision.token === "keep";
    const made = unchanged ? { after: before, events: [] } : plan(before, decision, actor);
    return {
      submission: made.after,
      decision,
      events: made.events.filter(({ stream }) => stream === "submission").map(({ type }) => type),
      when: (decide, as = AGENT) => scene(made.after, decide(made.after, contextOf(as)), as),
    };
  };
  const command = { tenant: "default", initialFields: fields };
  const context = contextOf(AGENT);
  const before = initialSubmission(command, context);
  return scene(before, decideCreateSubmission(before, command, context), AGENT);
}
