import type { SubmissionState } from "@formbridge/contract";
import { DAY, HOUR, type Instant, MINUTE } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import { isEditable } from "./transitions.ts";

/** The times that rules are made of. Every one is a setting. */
export interface Policy {
  submissionTtlMs: number;
  tokenTtlMs: number;
  tokenTtlMinMs: number;
  tokenTtlMaxMs: number;
  /** In a token's last stretch its answers carry a warning. */
  tokenWarningMs: number;
  /** A rotated token still reads this long. */
  staleReadGraceMs: number;
  clockSkewMs: number;
  idempotencyTtlMs: number;
  /** How long a token that is over is still known, to say so. */
  tokenMemoryMs: number;
  /** What a rejection leaves at least to mend. */
  mendMs: number;
  /** How long an ended submission keeps its values when its intake says nothing; absent: for good. */
  retentionMs?: number;
  /** How long the history of an erased submission stays, without its values. */
  eventRetentionMs: number;
  uploadTtlMs: number;
  /** How long a file that nobody needs any more is kept all the same. */
  uploadGraceMs: number;
  /** How long a URL gives a file. */
  downloadTtlMs: number;
  /** What the fields of one submission may add up to, in characters of JSON. */
  maxFieldsSize: number;
  /** What a caller may ask for as `ttlMs`. */
  ttlRequestMinMs: number;
  ttlRequestMaxMs: number;
  /** How long a session's link lives, and the session that a code or an image opens. */
  sessionTtlMs: number;
  qrTtlMs: number;
  codeTtlMs: number;
  /** So often a code, or the address that goes with it, may be wrong. */
  codeTries: number;
  /** What a caller may ask for as a hand-off's `expiresInMs`. */
  handoffTtlMinMs: number;
  handoffTtlMaxMs: number;
  /** How long a review link can be used. */
  reviewLinkTtlMs: number;
}

export const DEFAULT_POLICY: Policy = {
  submissionTtlMs: 7 * DAY,
  tokenTtlMs: 7 * DAY,
  tokenTtlMinMs: HOUR,
  tokenTtlMaxMs: 30 * DAY,
  tokenWarningMs: HOUR,
  staleReadGraceMs: 30_000,
  clockSkewMs: 30_000,
  idempotencyTtlMs: DAY,
  tokenMemoryMs: 7 * DAY,
  mendMs: DAY,
  eventRetentionMs: 90 * DAY,
  uploadTtlMs: HOUR,
  uploadGraceMs: DAY,
  downloadTtlMs: 5 * MINUTE,
  maxFieldsSize: 1_048_576,
  ttlRequestMinMs: MINUTE,
  ttlRequestMaxMs: 365 * DAY,
  sessionTtlMs: DAY,
  qrTtlMs: 15 * MINUTE,
  codeTtlMs: 15 * MINUTE,
  codeTries: 5,
  handoffTtlMinMs: MINUTE,
  handoffTtlMaxMs: 30 * DAY,
  reviewLinkTtlMs: 7 * DAY,
};

/** When a token issued now ends: what an intake asks for within the bounds, and never after a submission that can still expire. */
export function tokenExpiry(
  about: { state: SubmissionState; expiresAt: Instant },
  clock: { now: Instant; intake: CompiledIntake; policy: Policy },
): Instant {
  const { now, intake, policy } = clock;
  const asked = intake.definition.tokens?.ttlMs;
  const { tokenTtlMs, tokenTtlMinMs, tokenTtlMaxMs } = policy;
  const ends = now + (asked === undefined ? tokenTtlMs : Math.min(Math.max(asked, tokenTtlMinMs), tokenTtlMaxMs));
  return isEditable(about.state) ? Math.min(ends, about.expiresAt) : ends;
}

/** A warning comes when 80 % of the time has passed. */
export const warningTime = (from: Instant, until: Instant): Instant => from + Math.floor((until - from) * 0.8);

/** Has a deadline passed, clocks being what they are? */
export const isPast = (deadline: Instant, now: Instant, policy: Policy): boolean =>
  now >= deadline + policy.clockSkewMs;
