/** At most `limit` hits per window. */
export interface RateRule {
  name: string;
  limit: number;
  windowMs: number;
}

export interface RateVerdict {
  rule: RateRule;
  allowed: boolean;
  remaining: number;
  resetMs: number;
}

/** Counts hits per rule and subject. Fails open: a limiter that can't count allows the hit. */
export interface RateLimiter {
  /** Counts a hit (`weight` hits if given) and returns whether it was within the limit. */
  hit(rule: RateRule, subject: string, weight?: number): Promise<RateVerdict>;
  /** Checks without counting. */
  peek(rule: RateRule, subject: string): Promise<RateVerdict>;
}
