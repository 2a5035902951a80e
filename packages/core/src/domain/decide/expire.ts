import { evolve } from "../evolve.ts";
import type { Instant } from "../instant.ts";
import type { NewJob } from "../job.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable, isTerminal } from "../transitions.ts";
import { type Decision, lapseJob } from "./decision.ts";

export const TTL_ENFORCER = { kind: "system", id: "ttl_enforcer" } as const;

/** Only editable submissions expire; once submitted, it is up to us to review and deliver them. */
export const isDue = (submission: Submission, now: Instant, policy: Policy): boolean =>
  isEditable(submission.state) && isPast(submission.expiresAt, now, policy);

export function decideExpire(submission: Submission): Decision {
  return {
    events: [
      {
        type: "submission.expired",
        by: TTL_ENFORCER,
        originalState: submission.state,
        ttlMs: submission.ttlMs,
        createdAt: submission.createdAt,
        expiredAt: submission.expiresAt,
      },
    ],
    token: "rotate",
  };
}

/** Undefined if the current token still works, or its lapse is already recorded. */
export function decideLapse(submission: Submission, clock: { now: Instant; policy: Policy }): Decision | undefined {
  const { token, tokensRevoked, state } = submission;
  if (isTerminal(state) || tokensRevoked || token.lapsed === true) return undefined;
  if (!isPast(token.expiresAt, clock.now, clock.policy)) return undefined;
  return { events: [], token: "keep", lapses: true };
}

/** The job that records the lapse of an unused token: for every live token that ends before its submission does. */
export function lapsing(
  before: Submission,
  after: Submission,
  policy: Policy,
): { jobs: readonly NewJob[]; dropJobs: readonly string[] } {
  if (before.token === after.token) return { jobs: [], dropJobs: [] };
  const key = lapseJob(after.submissionId);
  const runAt = after.token.expiresAt + policy.clockSkewMs;
  if (outlivesToken(after)) return { jobs: [{ key, kind: "lapse", runAt }], dropJobs: [] };
  return { jobs: [], dropJobs: before.version > 0 && outlivesToken(before) ? [key] : [] };
}

function outlivesToken({ state, tokensRevoked, token, expiresAt }: Submission): boolean {
  if (isTerminal(state) || tokensRevoked || token.lapsed === true) return false;
  // Under review and in delivery, a submission doesn't expire; an editable one's own expiry records the end of its token.
  return !isEditable(state) || token.expiresAt < expiresAt;
}

/** Shows a submission past its deadline as expired before that is committed; others are returned unchanged. */
export function readAt(submission: Submission, now: Instant, policy: Policy): Submission {
  if (!isDue(submission, now, policy)) return submission;
  const stamp = { actor: TTL_ENFORCER, now, version: submission.version };
  return decideExpire(submission).events.reduce((before, event) => evolve(before, event, stamp), submission);
}

export function decideWarn(submission: Submission, now: Instant): Decision {
  const remainingMs = Math.max(0, submission.expiresAt - now);
  return {
    events: [{ type: "submission.ttl_warning", by: TTL_ENFORCER, expiresAt: submission.expiresAt, remainingMs }],
    token: "keep",
  };
}
