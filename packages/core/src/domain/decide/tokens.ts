import type { Submission } from "../submission.ts";
import { endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

/** After this nobody holds a token that works, until one is reissued. */
export function decideRevokeTokens(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  return ended === undefined ? { events: [], token: "revoke" } : refuse(ended);
}

/** A new token; the ones before it are retired. */
export function decideReissueToken(submission: Submission, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  return ended === undefined ? { events: [], token: "reissue" } : refuse(ended);
}
