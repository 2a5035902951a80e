import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable } from "../transitions.ts";
import type { TokenRow } from "./token-row.ts";

/** The current status of a presented token. */
export type TokenStatus = "current" | "stale" | "revoked" | "elapsed";

export function tokenStatusOf(
  token: TokenRow,
  submission: Submission,
  clock: { now: Instant; policy: Policy },
): TokenStatus {
  if (token.epoch !== submission.epoch || submission.tokensRevoked) return "revoked";
  if (isPast(token.expiresAt, clock.now, clock.policy)) return "elapsed";
  return token.version === submission.version ? "current" : "stale";
}

/** Whether the current token has lapsed; it isn't given to anyone then. */
export const hasLapsed = ({ token }: Submission, { now, policy }: { now: Instant; policy: Policy }): boolean =>
  isPast(token.expiresAt, now, policy);

/** Whether the bearer of a stale token may learn the current token and values: only if it could have kept writing. */
export const mayLearnCurrent = (submission: Submission, intake: CompiledIntake): boolean =>
  isEditable(submission.state) && intake.definition.tokens?.discloseCurrent !== false;

/** A rotated token can still read for a short time, because a hand-off link may be one write behind. */
export const readsInGrace = (token: TokenRow, clock: { now: Instant; policy: Policy }): boolean =>
  token.rotatedAt !== undefined && clock.now < token.rotatedAt + clock.policy.staleReadGraceMs;
