import type { Actor } from "@formbridge/contract";
import { countReplay } from "./decide/replay.ts";
import { erase } from "./erase.ts";
import type { AttemptResult, DomainEvent } from "./events.ts";
import { attribute } from "./fields/attribution.ts";
import type { Instant } from "./instant.ts";
import { warningTime } from "./policy.ts";
import type { Delivery, Review, Submission } from "./submission.ts";
import { forget } from "./traces.ts";
import { mayMove } from "./transitions.ts";

/** How many incidents a submission remembers; the rest is in its history. */
const MAX_INCIDENTS = 20;

/** Who caused an event, when, and at which version. */
export interface Stamp {
  actor: Actor;
  now: Instant;
  version: number;
}

/** The state after an event. Throws, as an internal error, for a move that isn't in the transition table. */
export function evolve(submission: Submission, event: DomainEvent, stamp: Stamp): Submission {
  const next = apply(submission, event, { ...stamp, actor: event.by ?? stamp.actor });
  if (!mayMove(submission.state, next.state)) {
    throw new Error(`${event.type} would move a submission from ${submission.state} to ${next.state}`);
  }
  return next;
}

function apply(submission: Submission, event: DomainEvent, stamp: Stamp): Submission {
  switch (event.type) {
    case "submission.created":
    case "handoff.link_issued":
    case "handoff.resumed":
      return submission;
    case "handoff.completed":
      return { ...submission, completedHandoff: { handoffId: event.handoffId, at: stamp.now, version: stamp.version } };
    case "security.incident": {
      const { incidentId, response } = event;
      const entry = { incidentId, at: stamp.now, ...(response !== undefined && { response }) };
      return { ...submission, incidents: [...(submission.incidents ?? []), entry].slice(-MAX_INCIDENTS) };
    }
    case "field.updated":
      return {
        ...submission,
        state: event.to,
        fields: event.fields,
        sizeBound: event.sizeBound,
        attribution: attribute(submission.attribution, event, stamp),
        missingCount: event.missingCount,
        ...(event.moved && { uploads: uploadsMoved(submission, event.moved) }),
      };
    case "validation.passed":
    case "validation.failed":
      return { ...submission, state: event.to };
    case "upload.requested":
      return { ...submission, state: event.to, uploads: [...submission.uploads, event.upload] };
    case "upload.completed":
      return {
        ...submission,
        state: event.to,
        uploads: submission.uploads.map((upload) =>
          upload.uploadId === event.uploadId ? { ...upload, confirmed: event.reference } : upload,
        ),
        fields: event.fields,
        sizeBound: submission.sizeBound + JSON.stringify(event.reference).length + event.path.join(".").length,
        attribution: attribute(
          submission.attribution,
          { set: [{ path: event.path }], removed: [], fields: event.fields },
          stamp,
        ),
        missingCount: event.missingCount,
      };
    case "upload.failed":
    case "upload.abandoned":
      return { ...submission, state: event.to, uploads: uploadsWithout(submission, event.uploadId) };
    case "upload.collected": {
      const uploads = uploadsWithout(submission, event.uploadId);
      return event.to === undefined ? { ...submission, uploads } : { ...submission, state: event.to, uploads };
    }
    case "submission.ttl_warning":
      return withoutWarning(submission);
    case "submission.replayed":
      return countReplay(submission, event);
    case "submission.cancelled":
      return {
        ...submission,
        state: "cancelled",
        cancelledAt: stamp.now,
        cancelledBy: stamp.actor,
        ...(event.reason !== undefined && { reason: event.reason }),
        ...(submission.delivery && { delivery: calledOff(submission.delivery) }),
      };
    case "destination.changed":
      return { ...submission, destination: event.sealed };
    case "submission.erased":
      return erase(submission, stamp.now);
    case "submission.redacted":
      return forget(submission, event.traces);
    case "submission.expired":
      return { ...submission, state: "expired", expiredAt: event.expiredAt };
    default:
      return applyAfterSubmit(submission, event, stamp);
  }
}

const uploadsWithout = ({ uploads }: Submission, gone: string): Submission["uploads"] =>
  uploads.filter(({ uploadId }) => uploadId !== gone);

const uploadsMoved = (
  { uploads }: Submission,
  moved: readonly { uploadId: string; field: string }[],
): Submission["uploads"] =>
  uploads.map((upload) => ({ ...upload, ...moved.find(({ uploadId }) => uploadId === upload.uploadId) }));

type AfterSubmit = Extract<
  DomainEvent,
  { type: "submission.submitted" | "submission.finalized" | `review.${string}` | `delivery.${string}` }
>;

/** Everything after submit: gates, delivery and finalization. */
function applyAfterSubmit(submission: Submission, event: AfterSubmit, stamp: Stamp): Submission {
  const submittedAt = submission.submittedAt ?? stamp.now;
  switch (event.type) {
    case "submission.submitted":
      return {
        ...submission,
        state: "submitted",
        submittedAt: stamp.now,
        submittedBy: stamp.actor,
        delivery: {
          deliveryId: event.deliveryId,
          attemptCount: 0,
          tries: 0,
          ...(event.answer && { answer: event.answer }),
        },
      };
    case "review.requested":
      return {
        ...submission,
        state: "needs_review",
        submittedAt,
        review: { gateIndex: event.gateIndex, gate: event.gate, requestedAt: stamp.now, approvals: [] },
      };
    case "review.approved":
      return approve(submission, event, stamp);
    case "review.rejected":
      return {
        ...submission,
        state: "rejected",
        ...(event.expiresAt > submission.expiresAt && {
          expiresAt: event.expiresAt,
          warnAt: warningTime(stamp.now, event.expiresAt),
        }),
        review: { ...reviewOf(submission), ...verdict("rejected", stamp), ...reasonsOf(event) },
        rejections: [
          ...submission.rejections,
          { gate: event.gate, ...reasonsOf(event), by: stamp.actor, at: stamp.now, version: stamp.version },
        ],
      };
    case "delivery.attempted":
    case "delivery.failed":
    case "delivery.succeeded":
    case "delivery.restarted":
      return { ...submission, delivery: afterAttempt(deliveryOf(submission), event, stamp.now) };
    case "submission.finalized":
      return { ...submission, state: "finalized", submittedAt, finalizedAt: stamp.now };
    case "review.escalated":
      return { ...submission, review: { ...reviewOf(submission), escalatedAt: stamp.now } };
    case "review.reassigned": {
      const reassigned = { reviewers: event.reviewers, at: stamp.now };
      return { ...submission, review: { ...reviewOf(submission), reassigned } };
    }
  }
}

function withoutWarning(submission: Submission): Submission {
  const { warnAt: _given, ...rest } = submission;
  return rest;
}

function reviewOf(submission: Submission): Review {
  if (submission.review === undefined) throw new Error("a review was decided although none had been requested");
  return submission.review;
}

const verdict = (decision: "approved" | "rejected", stamp: Stamp) => ({
  decision,
  decidedBy: stamp.actor,
  decidedAt: stamp.now,
});

const reasonsOf = ({ reasons, fieldReasons }: Extract<DomainEvent, { type: "review.rejected" }>) => ({
  reasons,
  ...(fieldReasons && { fieldReasons }),
});

function approve(
  submission: Submission,
  event: Extract<DomainEvent, { type: "review.approved" }>,
  stamp: Stamp,
): Submission {
  const open = submission.review;
  const review: Review =
    open !== undefined && open.gateIndex === event.gateIndex && open.decision === undefined
      ? open
      : { gateIndex: event.gateIndex, gate: event.gate, requestedAt: stamp.now, approvals: [] };
  const approval = { by: stamp.actor, at: stamp.now, ...(event.comment !== undefined && { comment: event.comment }) };
  const approvals = [...review.approvals, approval];
  const decided = event.passed === "no" ? {} : verdict("approved", stamp);
  const next = { ...submission, review: { ...review, approvals, ...decided } };
  if (event.passed !== "all") return next;
  return { ...next, state: "approved", submittedAt: submission.submittedAt ?? stamp.now, delivery: deliveryOf(next) };
}

function deliveryOf(submission: Submission): Delivery {
  if (submission.delivery === undefined) throw new Error("a delivery was reported although none had been started");
  return submission.delivery;
}

/** Keeps what happened, without the attempt that would have come next. */
function calledOff({ nextAttemptAt: _next, givenUp: _given, ...delivery }: Delivery): Delivery {
  return delivery;
}

const MAX_ATTEMPTS_KEPT = 10;

function ended(
  delivery: Delivery,
  { result, error }: { result: AttemptResult; error?: string },
  now: Instant,
): Pick<Delivery, "inFlight" | "attempts"> {
  const attempt = { at: delivery.lastAttemptAt ?? now, ...result, ...(error !== undefined && { error }) };
  return { inFlight: false, attempts: [...(delivery.attempts ?? []), attempt].slice(-MAX_ATTEMPTS_KEPT) };
}

function afterAttempt(
  delivery: Delivery,
  event: Extract<DomainEvent, { type: `delivery.${string}` }>,
  now: Instant,
): Delivery {
  const { givenUp: _given, nextAttemptAt: _next, lease: _lease, ...going } = delivery;
  switch (event.type) {
    case "delivery.attempted": {
      const { attempt, lease } = event;
      return { ...going, attemptCount: attempt, tries: delivery.tries + 1, lastAttemptAt: now, inFlight: true, lease };
    }
    case "delivery.succeeded": {
      // Earlier errors stay in `attempts`.
      const { lastError: _mended, ...taken } = going;
      return { ...taken, deliveredAt: now, ...ended(delivery, event, now) };
    }
    case "delivery.failed": {
      // The submit's response reports the first attempt only.
      const { answer: _answered, ...rest } = going;
      const failed = { ...rest, lastError: event.error, ...ended(delivery, event, now) };
      return event.retryAt === undefined
        ? { ...failed, tries: 0, givenUp: true }
        : { ...failed, nextAttemptAt: event.retryAt };
    }
    case "delivery.restarted":
      return { ...going, tries: 0, nextAttemptAt: now };
  }
}
