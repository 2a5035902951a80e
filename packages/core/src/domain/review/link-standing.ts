import type { NextAction } from "@formbridge/contract";
import type { Decision } from "../decide/decision.ts";
import { ContractError } from "../error.ts";
import { type Hash, sha256 } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { endedError } from "../tokens/refuse-ended.ts";
import type { ReviewLink } from "./review-link.ts";
import type { Waiting } from "./reviewers.ts";

interface Clock {
  now: Instant;
  policy: Policy;
}

/** A link for one person, for the gate that the submission is waiting at. */
export function decideReviewLink(
  submission: Waiting,
  { email, hash }: { email: string; hash: Hash },
  { now, policy }: Clock,
): Decision & { link: ReviewLink } {
  const { tenant, submissionId, review } = submission;
  const { gateIndex } = review;
  const deliveryId = submission.delivery?.deliveryId ?? "";
  const expiresAt = now + policy.reviewLinkTtlMs;
  const linkId = sha256(JSON.stringify([submissionId, deliveryId, gateIndex, email.toLowerCase()]));
  const link: ReviewLink = {
    linkId,
    hash,
    tenant,
    submissionId,
    deliveryId,
    gateIndex,
    email,
    createdAt: now,
    expiresAt,
    forgetAfter: expiresAt,
  };
  return { events: [], token: "keep", side: [{ kind: "review_link", link }], link };
}

export const spent = (link: ReviewLink, now: Instant): ReviewLink => ({ ...link, spentAt: now });

/** Whether the submission still waits for the decision that the link was made for. */
export const awaits = (submission: Submission, link: ReviewLink): submission is Waiting =>
  submission.state === "needs_review" &&
  submission.review.gateIndex === link.gateIndex &&
  submission.delivery?.deliveryId === link.deliveryId;

/**
 * Why a link can no longer decide: it was used, the submission has ended, the gate is decided, or the link has expired.
 */
export function linkOver(link: ReviewLink, submission: Submission, { now, policy }: Clock): ContractError | undefined {
  if (link.spentAt !== undefined) return over(link, { reason: "link_spent", at: link.spentAt, now });
  const ended = endedError(submission, now);
  if (ended !== undefined) return ended.advising([NOTHING_LEFT]);
  if (!awaits(submission, link)) return over(link, { reason: "review_decided", at: submission.updatedAt, now });
  if (isPast(link.expiresAt, now, policy)) return over(link, { reason: "ttl_elapsed", at: link.expiresAt, now });
  return undefined;
}

const NOTHING_LEFT: NextAction = {
  action: "fetch_current_state",
  hint: "There is nothing left to decide with this link. A reviewer's key can still read the submission.",
};

/** For someone whose review link no longer works. */
export const ASK_FOR_LINK: NextAction = {
  action: "request_handoff",
  hint: "Ask whoever runs the intake for a new review link.",
};

const WORDS = {
  link_spent: "You have already decided with this link. It works only once.",
  review_decided: "The gate was decided without you, or the submission has changed since the link was sent.",
  ttl_elapsed: "The link has expired. Ask whoever runs the intake for a new one.",
};

function over(
  { submissionId }: ReviewLink,
  { reason, at, now }: { reason: keyof typeof WORDS; at: Instant; now: Instant },
): ContractError {
  return new ContractError("token_expired", WORDS[reason], {
    about: { submissionId },
    reason,
    expiredAt: toIso(at),
    expiredFor: Math.max(0, now - at),
    canRecover: false,
    nextActions: [reason === "ttl_elapsed" ? ASK_FOR_LINK : NOTHING_LEFT],
  });
}
