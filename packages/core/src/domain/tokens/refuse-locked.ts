import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "./refuse-ended.ts";

/** 409: between submit and its outcome nobody can change what a reviewer or a receiver is looking at. */
export function refuseLocked(submission: Submission): ContractError | undefined {
  switch (submission.state) {
    case "needs_review":
      return new ContractError("needs_approval", "The submission is being reviewed and can't be changed.", {
        about: aboutOf(submission),
        nextActions: [{ action: "wait_for_review", hint: "Wait for the decision. A rejection opens it again." }],
      });
    case "submitted":
    case "approved":
      return (
        refuseGivenUp(submission) ??
        new ContractError("conflict", "The submission is locked for delivery and can't be changed.", {
          about: aboutOf(submission),
          nextActions: [
            { action: "fetch_current_state", hint: "Wait for the delivery. Read the submission to see its state." },
          ],
        })
      );
    default:
      return undefined;
  }
}

/** The last delivery attempt failed, and nothing happens until somebody restarts the delivery. */
export function refuseGivenUp(submission: Submission): ContractError | undefined {
  const { state, delivery } = submission;
  if ((state !== "submitted" && state !== "approved") || delivery?.givenUp !== true) return undefined;
  const words = `The submission could not be delivered: ${delivery.lastError ?? "the destination did not take it."} Start the delivery again.`;
  return new ContractError("delivery_failed", words, {
    about: aboutOf(submission),
    nextActions: [{ action: "retry_delivery", hint: "Restart the delivery. You don't have to send anything again." }],
  });
}
