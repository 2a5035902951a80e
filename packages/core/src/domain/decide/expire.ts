import type { Instant } from "../instant.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable } from "../transitions.ts";
import type { Decision } from "./decision.ts";

const CLOCK = { kind: "system", id: "ttl_enforcer" } as const;

/** Only what is still open expires: once submitted, the work is ours to review and deliver. */
export const isDue = (submission: Submission, now: Instant, policy: Policy): boolean =>
  isEditable(submission.state) && isPast(submission.expiresAt, now, policy);

export function decideExpire(submission: Submission): Decision {
  return {
    events: [
      {
        type: "submission.expired",
        by: CLOCK,
        originalState: submission.state,
        ttlMs: submission.ttlMs,
        createdAt: submission.createdAt,
        expiredAt: submission.expiresAt,
      },
    ],
    token: "rotate",
  };
}

export function decideWarn(submission: Submission, now: Instant): Decision {
  const remainingMs = Math.max(0, submission.expiresAt - now);
  return {
    events: [{ type: "submission.ttl_warning", by: CLOCK, expiresAt: submission.expiresAt, remainingMs }],
    token: "keep",
  };
}
