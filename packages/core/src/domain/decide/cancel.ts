import { ContractError } from "../error.ts";
import type { Instant } from "../instant.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, deliveryJob, escalationJob, refuse } from "./decision.ts";

export interface Cancel {
  reason?: string;
}

/** What was delivered can't be taken back: a 409, where other writes get a 410. */
export function refuseEndedCancel(submission: Submission, now: Instant): ContractError | undefined {
  if (submission.state !== "finalized") return endedError(submission, now);
  return new ContractError("conflict", "The submission is finalized and can't be cancelled.", {
    about: aboutOf(submission),
  });
}

export function decideCancel(submission: Submission, command: Cancel, context: DecideContext): Decision {
  const ended = refuseEndedCancel(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (submission.delivery?.inFlight === true) {
    return refuse(
      new ContractError("conflict", "A delivery attempt is in flight. Wait for its outcome, then cancel.", {
        about: aboutOf(submission),
        retryable: true,
      }),
    );
  }
  return {
    events: [{ type: "submission.cancelled", ...(command.reason !== undefined && { reason: command.reason }) }],
    token: "rotate",
    dropJobs: [deliveryJob(submission.submissionId), escalationJob(submission.submissionId)],
  };
}
