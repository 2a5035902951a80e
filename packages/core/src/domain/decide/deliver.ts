import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, deliveryJob, refuse } from "./decision.ts";

const COURIER = { kind: "system", id: "delivery" } as const;

type Deliverable = Submission & { state: "submitted" | "approved" };
const isDeliverable = (submission: Submission): submission is Deliverable =>
  submission.state === "submitted" || submission.state === "approved";

const notDeliverable = (submission: Submission): Decision =>
  refuse(new ContractError("conflict", "There is nothing to deliver.", { about: aboutOf(submission) }));

/** An attempt is recorded before it starts: a cancel meanwhile is refused. */
export function decideDeliveryAttempt(submission: Submission): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  const { deliveryId, attemptCount } = submission.delivery;
  return {
    events: [{ type: "delivery.attempted", by: COURIER, deliveryId, attempt: attemptCount + 1 }],
    token: "keep",
  };
}

export function decideDeliverySuccess(submission: Submission): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  return {
    events: [
      { type: "delivery.succeeded", by: COURIER, deliveryId: submission.delivery.deliveryId },
      { type: "submission.finalized", by: COURIER },
    ],
    token: "rotate",
    dropJobs: [deliveryJob(submission.submissionId)],
  };
}

/** `retryAt` absent: that was the last attempt, and the submission waits for somebody to start it again. */
export function decideDeliveryFailure(submission: Submission, failure: { error: string; retryAt?: number }): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  const key = deliveryJob(submission.submissionId);
  return {
    events: [
      { type: "delivery.failed", by: COURIER, deliveryId: submission.delivery.deliveryId, error: failure.error },
    ],
    token: "keep",
    ...(failure.retryAt === undefined
      ? { dropJobs: [key] }
      : { jobs: [{ key, kind: "deliver", runAt: failure.retryAt }] }),
  };
}

export function decideRetryDelivery(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (!isDeliverable(submission)) return notDeliverable(submission);
  if (submission.delivery.inFlight === true) {
    return refuse(new ContractError("conflict", "A delivery attempt is under way.", { about: aboutOf(submission) }));
  }
  return {
    events: [],
    token: "keep",
    jobs: [{ key: deliveryJob(submission.submissionId), kind: "deliver", runAt: context.now }],
  };
}
