import type { Destination } from "@formbridge/contract";
import { retryDelay } from "../delivery/retry-delay.ts";
import { ContractError } from "../error.ts";
import type { AttemptResult } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { AttemptLease, Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { refuseLocked } from "../tokens/refuse-locked.ts";
import { type DecideContext, type Decision, deliveryJob, refuse } from "./decision.ts";

export const COURIER = { kind: "system", id: "delivery" } as const;

export type Deliverable = Submission & { state: "submitted" | "approved" };
export const isDeliverable = (submission: Submission): submission is Deliverable =>
  submission.state === "submitted" || submission.state === "approved";

const notDeliverable = (submission: Submission): Decision =>
  refuse(
    refuseLocked(submission) ??
      new ContractError("conflict", "The submission hasn't been submitted yet, so there is nothing to deliver.", {
        about: aboutOf(submission),
      }),
  );

/** Who wants to start an attempt. */
export interface Contender extends AttemptLease {
  now: Instant;
  /** No other process uses this store, so attempts of other processes died with them. */
  isAlone: boolean;
}

/**
 * Until when another attempt prevents this one; undefined if none does. An attempt whose process died ends with its
 * lease, or at once if only one process can be running.
 */
export function heldUntil({ delivery }: Deliverable, { by, now, isAlone }: Contender): Instant | undefined {
  const { inFlight, lease } = delivery;
  if (inFlight !== true || lease === undefined || lease.until <= now) return undefined;
  return isAlone && lease.by !== by ? undefined : lease.until;
}

/** An attempt is recorded before it starts, so that a cancel or a second attempt is refused meanwhile. */
export function decideDeliveryAttempt(submission: Submission, { by, until }: AttemptLease): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  const { deliveryId, attemptCount } = submission.delivery;
  const lease = { by, until };
  return {
    events: [{ type: "delivery.attempted", by: COURIER, deliveryId, attempt: attemptCount + 1, lease }],
    token: "keep",
  };
}

export function decideDeliverySuccess(submission: Submission, result: AttemptResult): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  return {
    events: [
      { type: "delivery.succeeded", by: COURIER, deliveryId: submission.delivery.deliveryId, result },
      { type: "submission.finalized", by: COURIER },
    ],
    token: "rotate",
    dropJobs: [deliveryJob(submission.submissionId)],
  };
}

export interface FailedDelivery {
  error: string;
  /** Retrying is pointless. */
  final?: true;
  retryAfterMs?: number;
  /** Random, between 0 and 1. */
  chance: number;
  result: AttemptResult;
}

const MAX_ERROR = 500;

/** After the last attempt the submission waits until somebody retries the delivery. */
export function decideDeliveryFailure(
  submission: Submission,
  { result, ...failure }: FailedDelivery,
  { now, retryPolicy }: { now: Instant; retryPolicy: Destination["retryPolicy"] },
): Decision {
  if (!isDeliverable(submission)) return notDeliverable(submission);
  const { deliveryId, tries } = submission.delivery;
  const delay = failure.final === true ? undefined : retryDelay(retryPolicy, { ...failure, tries });
  const key = deliveryJob(submission.submissionId);
  const error = failure.error.slice(0, MAX_ERROR);
  const failed = { type: "delivery.failed", by: COURIER, deliveryId, error, result } as const;
  if (delay === undefined) return { events: [failed], token: "keep", dropJobs: [key] };
  const retryAt = now + delay;
  return {
    events: [{ ...failed, retryAt }],
    token: "keep",
    jobs: [{ key, kind: "deliver", runAt: retryAt }],
  };
}

/** Restarts a delivery that was given up or waits for its next attempt: with all attempts, the first one now. */
export function decideRetryDelivery(submission: Submission, { now }: Pick<DecideContext, "now">): Decision {
  const ended = endedError(submission, now);
  if (ended !== undefined) return refuse(ended);
  if (!isDeliverable(submission)) return notDeliverable(submission);
  if (submission.delivery.inFlight === true) {
    return refuse(
      new ContractError("conflict", "A delivery attempt is in flight. Wait for its outcome.", {
        about: aboutOf(submission),
        retryable: true,
        nextActions: [{ action: "fetch_current_state", hint: "Read the submission: deliveryState shows the outcome." }],
      }),
    );
  }
  return {
    events: [{ type: "delivery.restarted", deliveryId: submission.delivery.deliveryId }],
    token: "keep",
    jobs: [{ key: deliveryJob(submission.submissionId), kind: "deliver", runAt: now }],
  };
}
