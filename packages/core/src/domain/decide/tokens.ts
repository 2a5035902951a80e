import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { endedError } from "../tokens/refuse-ended.ts";
import { hasLapsed } from "../tokens/token-status.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

/** After this no token works until one is reissued. */
export function decideRevokeTokens(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  return ended === undefined ? { events: [], token: "revoke" } : refuse(ended);
}

/**
 * Replaces a lapsed token. No working token exists, so there is nothing to revoke, and people who are filling in the
 * form keep their sessions.
 */
export function decideRenewToken(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (!submission.tokensRevoked && hasLapsed(submission, context)) return { events: [], token: "renew" };
  return refuse(new ContractError("conflict", "The resume token hasn't expired, so there is nothing to renew."));
}

/** A new token; all earlier ones are revoked. */
export function decideReissueToken(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  return ended === undefined ? { events: [], token: "reissue" } : refuse(ended);
}
