import type { TokenRow } from "../../ports/store.ts";
import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable } from "../transitions.ts";

/** How a presented token stands to its submission now. */
export type Standing = "current" | "stale" | "revoked" | "elapsed";

export function standingOf(token: TokenRow, submission: Submission, clock: { now: Instant; policy: Policy }): Standing {
  if (token.epoch !== submission.epoch || submission.tokensRevoked) return "revoked";
  if (isPast(token.expiresAt, clock.now, clock.policy)) return "elapsed";
  return token.version === submission.version ? "current" : "stale";
}

/** May the bearer of a stale token learn the current token and values? Only where it could have gone on writing. */
export const mayLearnCurrent = (submission: Submission, intake: CompiledIntake): boolean =>
  isEditable(submission.state) && intake.definition.tokens?.discloseCurrent !== false;

/** A rotated token still reads for a short while: a hand-off link may be one write behind. */
export const readsInGrace = (token: TokenRow, clock: { now: Instant; policy: Policy }): boolean =>
  token.rotatedAt !== undefined && clock.now < token.rotatedAt + clock.policy.staleReadGraceMs;
