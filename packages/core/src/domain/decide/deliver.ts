import { retryDelay } from "../delivery/retry-delay.ts";
import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, deliveryJob, refuse } from "./decision.ts";

export const COURIER = { kind: "system", id: "delivery" } as const;

export type Deliverable = Submission & { state: "submitted" | "approved" };
export const isDeliverable = (submission: Submission): submission is Deliverable =>
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

export interface FailedDelivery {
  error: string;
  /** Trying again is of no use. */
  final?: true;
  retryAfterMs?: number;
  /** Between 0 and 1. */
  chance: number;
}

const MAX_ERROR = 500;

/** After the last attempt the submission waits for somebody to start it again. */
export function decideDeliveryFailure(
  submission: Submission,
  failure: FailedDelivery,
  context: Pick<DecideContext, "intake" | "now">,
): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  const { deliveryId, tries } = submission.delivery;
  const { retryPolicy } = context.intake.definition.destination;
  const delay = failure.final === true ? undefined : retryDelay(retryPolicy, { ...failure, tries });
  const key = deliveryJob(submission.submissionId);
  const error = failure.error.slice(0, MAX_ERROR);
  const failed = { type: "delivery.failed", by: COURIER, deliveryId, error } as const;
  if (delay === undefined) return { events: [failed], token: "keep", dropJobs: [key] };
  const retryAt = context.now + delay;
  return {
    events: [{ ...failed, retryAt }],
    token: "keep",
    jobs: [{ key, kind: "deliver", runAt: retryAt }],
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
