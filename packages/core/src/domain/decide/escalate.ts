import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import { type Decision, escalationJob } from "./decision.ts";

export const ESCALATION = { kind: "system", id: "escalation" } as const;

/**
 * Escalates a gate that has waited too long. Undefined if there is nothing to do: no gate is waiting, it has already
 * escalated, or the job was for an earlier gate and the current one still has time.
 */
export function decideEscalate(
  submission: Submission,
  { intake, now }: { intake: CompiledIntake; now: Instant },
): Decision | undefined {
  if (submission.state !== "needs_review") return undefined;
  const { gate, gateIndex, requestedAt, escalatedAt } = submission.review;
  const afterMs = intake.definition.approvalGates?.[gateIndex]?.escalateAfterMs;
  if (escalatedAt !== undefined || afterMs === undefined || now < requestedAt + afterMs) return undefined;
  return {
    events: [{ type: "review.escalated", by: ESCALATION, gateIndex, gate }],
    token: "keep",
    dropJobs: [escalationJob(submission.submissionId)],
  };
}
