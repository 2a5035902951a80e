/** How many hits a window of time takes. */
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

/** Counts hits per rule and subject. A limiter that can't count lets pass: it protects, it does not authorize. */
export interface RateLimiter {
  /** Counts one hit and tells whether it was within the limit. */
  hit(rule: RateRule, subject: string): Promise<RateVerdict>;
  /** Tells without counting. */
  peek(rule: RateRule, subject: string): Promise<RateVerdict>;
}
