import type { TokenRow } from "../../ports/store.ts";
import { ContractError, type ErrorAbout } from "../error.ts";
import { type Instant, toIso } from "../instant.ts";
import type { Submission } from "../submission.ts";
import { isTerminal } from "../transitions.ts";

/** What a refusal tells of a submission; the token is added by those who know that the caller may hold it. */
export const aboutOf = (submission: Submission): ErrorAbout => ({
  submissionId: submission.submissionId,
  state: submission.state,
  version: submission.version,
});

const startAnew = [
  { action: "create_new_submission" as const, hint: "Create a new submission; this one can't be changed any more." },
];

/** 410: a write on a submission that has ended. Never a token in it. */
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

/** 410: the token itself is over, by its time or by an operator. */
export function tokenOverError(
  token: TokenRow,
  submission: Submission,
  why: { reason: "ttl_elapsed" | "admin_revoked"; now: Instant },
): ContractError {
  const ended = why.reason === "ttl_elapsed" ? token.expiresAt : submission.epochSince;
  const canRecover = !isTerminal(submission.state);
  return new ContractError(
    "token_expired",
    why.reason === "ttl_elapsed" ? "The resume token has expired." : "The resume token was revoked.",
    {
      about: { submissionId: submission.submissionId },
      reason: why.reason,
      expiredAt: toIso(ended),
      expiredFor: Math.max(0, why.now - ended),
      canRecover,
      ...(canRecover && {
        recoveryMethod: "authenticate",
        nextActions: [
          {
            action: "fetch_current_state" as const,
            hint: "Read the submission by its id with the key that created it, or ask for a new token.",
          },
        ],
      }),
    },
  );
}
