import type { IntakeDefinition, SubmissionState } from "@formbridge/contract";
import { DAY, HOUR, type Instant, MINUTE } from "./instant.ts";
import type { CompiledIntake } from "./intake/compiled-intake.ts";
import { isEditable } from "./transitions.ts";

/** The durations and limits that the rules use. Each is a setting. */
export interface Policy {
  submissionTtlMs: number;
  tokenTtlMs: number;
  tokenTtlMinMs: number;
  tokenTtlMaxMs: number;
  /** Responses carry a warning during the last part of a token's life. */
  tokenWarningMs: number;
  /** How long a rotated token can still read. */
  staleReadGraceMs: number;
  clockSkewMs: number;
  idempotencyTtlMs: number;
  /** How long an ended token is remembered, to explain its refusal. */
  tokenMemoryMs: number;
  /** The least time that a rejection leaves for corrections. */
  mendMs: number;
  /** How long an ended submission keeps its values if its intake doesn't say; absent: forever. */
  retentionMs?: number;
  /** How long the history of an erased submission is kept, without its values. */
  eventRetentionMs: number;
  uploadTtlMs: number;
  /** How long an unneeded file is still kept. */
  uploadGraceMs: number;
  /** The maximum total size of a submission's files, including pending ones. */
  submissionUploadBytes: number;
  /** How long a download URL is valid. */
  downloadTtlMs: number;
  /** The maximum size of a submission's fields, in characters of JSON. */
  maxFieldsSize: number;
  /** The range that callers may request as `ttlMs`. */
  ttlRequestMinMs: number;
  ttlRequestMaxMs: number;
  /** The time to live of a session's link, and of the session that a code or a QR code opens. */
  sessionTtlMs: number;
  qrTtlMs: number;
  codeTtlMs: number;
  /** How often a code, or the address given with it, may be wrong. */
  codeTries: number;
  /** The range that callers may request as a hand-off's `expiresInMs`. */
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
  submissionUploadBytes: 10 * 1024 ** 3,
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

/** The parts of a definition that set lifetimes. */
type Lifetimes = Pick<IntakeDefinition, "ttlMs" | "tokens">;

/** How long a submission stays open: as requested by its creator, else by its intake, else the server's default. */
export const submissionLifetime = ({ ttlMs }: Lifetimes, policy: Policy, askedMs?: number): number =>
  askedMs ?? ttlMs ?? policy.submissionTtlMs;

/** A token's own time to live: the intake's within the server's limits, else the server's default. */
function ownLifetime({ tokens }: Lifetimes, { tokenTtlMs, tokenTtlMinMs, tokenTtlMaxMs }: Policy): number {
  const asked = tokens?.ttlMs;
  return asked === undefined ? tokenTtlMs : Math.min(Math.max(asked, tokenTtlMinMs), tokenTtlMaxMs);
}

/** The time to live of a new submission's first token: no longer than the submission stays open. */
export const tokenLifetime = (definition: Lifetimes, policy: Policy): number =>
  Math.min(ownLifetime(definition, policy), submissionLifetime(definition, policy));

/** When a token issued now ends: no later than the submission, if that can still expire. */
export function tokenExpiry(
  about: { state: SubmissionState; expiresAt: Instant },
  clock: { now: Instant; intake: CompiledIntake; policy: Policy },
): Instant {
  const { now, intake, policy } = clock;
  const ends = now + ownLifetime(intake.definition, policy);
  return isEditable(about.state) ? Math.min(ends, about.expiresAt) : ends;
}

/** The warning is due when 80 % of the time has passed. */
export const warningTime = (from: Instant, until: Instant): Instant => from + Math.floor((until - from) * 0.8);

/** Whether a deadline has passed, allowing for clock skew. */
export const isPast = (deadline: Instant, now: Instant, policy: Policy): boolean =>
  now >= deadline + policy.clockSkewMs;

/** The same for comparisons in a store: a deadline has passed if and only if it is before this time. */
export const pastBefore = (now: Instant, policy: Policy): Instant => now - policy.clockSkewMs + 1;
