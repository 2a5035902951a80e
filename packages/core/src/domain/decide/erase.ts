import type { IntakeDefinition } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";
import type { Traces } from "../traces.ts";
import { isTerminal } from "../transitions.ts";
import { type Decision, deliveryJob, escalationJob, refuse } from "./decision.ts";

/** How long after its end a submission keeps its values; undefined: forever. */
export const retentionMs = (definition: IntakeDefinition, policy: Policy): number | undefined =>
  definition.retention?.deleteAfterMs ?? policy.retentionMs;

/** Removes one actor from an ended submission that somebody else created. */
export const decideRedact = (traces: Traces): Decision => ({
  events: [{ type: "submission.redacted", traces }],
  token: "keep",
  redacts: traces.events,
});

/** Only an ended submission can be erased: before that, somebody is still working on it. */
export function decideErase(submission: Submission): Decision {
  if (!isTerminal(submission.state)) {
    const words = "Only a submission that has ended can be erased: cancel it first.";
    return refuse(new ContractError("conflict", words, { about: aboutOf(submission) }));
  }
  return {
    events: [{ type: "submission.erased" }],
    token: "keep",
    erases: true,
    dropJobs: [deliveryJob(submission.submissionId), escalationJob(submission.submissionId)],
  };
}
