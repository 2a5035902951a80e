import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, deliveryJob, escalationJob, refuse } from "./decision.ts";

export interface Cancel {
  reason?: string;
}

export function decideCancel(submission: Submission, command: Cancel, context: DecideContext): Decision {
  if (submission.state === "finalized") {
    return refuse(
      new ContractError("conflict", "A finalized submission can't be cancelled.", { about: aboutOf(submission) }),
    );
  }
  const ended = endedError(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (submission.delivery?.inFlight === true) {
    return refuse(
      new ContractError("conflict", "A delivery attempt is under way.", {
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
