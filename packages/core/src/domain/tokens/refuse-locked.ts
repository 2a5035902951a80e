import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "./refuse-ended.ts";

/** 409: between submit and its outcome nobody changes what a reviewer or a receiver is looking at. */
export function refuseLocked(submission: Submission): ContractError | undefined {
  switch (submission.state) {
    case "needs_review":
      return new ContractError("needs_approval", "The submission waits for a reviewer and can't be changed.", {
        about: aboutOf(submission),
        nextActions: [{ action: "wait_for_review", hint: "Wait for the decision; a rejection opens it again." }],
      });
    case "submitted":
    case "approved":
      return new ContractError("conflict", "The submission is locked for delivery.", { about: aboutOf(submission) });
    default:
      return undefined;
  }
}
