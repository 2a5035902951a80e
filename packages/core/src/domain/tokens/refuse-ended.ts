import type { NextAction } from "@formbridge/contract";
import { deliveryMark } from "../delivery/delivery-state.ts";
import { ContractError, type ErrorAbout } from "../error.ts";
import { type Instant, toIso } from "../instant.ts";
import type { Submission } from "../submission.ts";
import { isTerminal } from "../transitions.ts";
import type { TokenRow } from "./token-row.ts";

/** What a refusal says about a submission; the token is added only where the caller may hold it. */
export const aboutOf = (submission: Submission): ErrorAbout => ({
  submissionId: submission.submissionId,
  state: submission.state,
  version: submission.version,
  updatedAt: submission.updatedAt,
  ...deliveryMark(submission),
});

/** How to recover from a lapsed or revoked token. */
export const REISSUE: NextAction = {
  action: "reissue_token",
  hint: "Reissue the token with the key that created the submission, or an admin's. Don't send the old token in that call.",
};

const READ_BY_ID: NextAction = {
  action: "fetch_current_state",
  hint: "The submission has ended. Read it by id, with the key that created it or an admin's.",
};

const startAnew = [
  { action: "create_new_submission" as const, hint: "Create a new submission. This one can no longer be changed." },
];

/** 410: a write to a submission that has ended. Never contains a token. */
export function endedError(submission: Submission, now: Instant): ContractError | undefined {
  const about = aboutOf(submission);
  switch (submission.state) {
    case "finalized":
      return new ContractError("token_expired", "The submission is finalized and can't be changed.", {
        about,
        reason: "finalized",
        expiredAt: toIso(submission.finalizedAt),
        expiredFor: Math.max(0, now - submission.finalizedAt),
        canRecover: false,
        nextActions: startAnew,
      });
    case "cancelled":
      return new ContractError("cancelled", "The submission was cancelled.", { about, nextActions: startAnew });
    case "expired":
      return new ContractError("expired", "The submission has expired.", {
        about,
        expiredAt: toIso(submission.expiredAt),
        expiredFor: Math.max(0, now - submission.expiredAt),
        canRecover: false,
        nextActions: startAnew,
      });
    default:
      return undefined;
  }
}

/** 410: the token itself has lapsed or was revoked. */
export function tokenOverError(
  token: TokenRow,
  submission: Submission,
  why: { reason: "ttl_elapsed" | "admin_revoked"; now: Instant },
): ContractError {
  const ended = why.reason === "ttl_elapsed" ? token.expiresAt : submission.epochSince;
  const hasEnded = isTerminal(submission.state);
  return new ContractError(
    "token_expired",
    why.reason === "ttl_elapsed" ? "The resume token has expired." : "The resume token was revoked.",
    {
      about: { submissionId: submission.submissionId },
      reason: why.reason,
      expiredAt: toIso(ended),
      expiredFor: Math.max(0, why.now - ended),
      canRecover: !hasEnded,
      ...(!hasEnded && { recoveryMethod: "creator_or_admin_key" }),
      nextActions: [hasEnded ? READ_BY_ID : REISSUE],
    },
  );
}
