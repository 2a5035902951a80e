import type { Destination } from "@formbridge/contract";
import { HOUR } from "../instant.ts";

type RetryPolicy = NonNullable<Destination["retryPolicy"]>;

/** Ten attempts over about 17 hours. */
export const DEFAULT_RETRY_POLICY: Required<RetryPolicy> = {
  maxAttempts: 10,
  initialDelayMs: 2_000,
  maxDelayMs: 6 * HOUR,
  factor: 4,
  jitter: true,
};

export interface FailedTry {
  /** The number of attempts so far, including this one. */
  tries: number;
  /** How long the destination asked us to wait. */
  retryAfterMs?: number;
  /** Random, between 0 and 1: spreads out retries of deliveries that failed together. */
  chance: number;
}

/** How long to wait before the next attempt; undefined after the last one. */
export function retryDelay(given: RetryPolicy | undefined, failed: FailedTry): number | undefined {
  const policy = { ...DEFAULT_RETRY_POLICY, ...given };
  if (failed.tries >= policy.maxAttempts) return undefined;
  const whole = Math.min(policy.initialDelayMs * policy.factor ** (failed.tries - 1), policy.maxDelayMs);
  const delay = policy.jitter ? whole * (0.5 + failed.chance / 2) : whole;
  return Math.ceil(Math.max(delay, failed.retryAfterMs ?? 0));
}
