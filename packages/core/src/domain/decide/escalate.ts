import type { Submission } from "../submission.ts";
import { type Decision, escalationJob } from "./decision.ts";

export const ESCALATION = { kind: "system", id: "escalation" } as const;

/** A gate has waited too long. Undefined when it is no longer waiting. */
export function decideEscalate(submission: Submission): Decision | undefined {
  if (submission.state !== "needs_review") return undefined;
  return {
    events: [{ type: "review.escalated", by: ESCALATION, gate: submission.review.gate }],
    token: "keep",
    dropJobs: [escalationJob(submission.submissionId)],
  };
}
