import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import type { Health } from "./health.ts";
import type { TokenRow } from "./store.ts";

export interface TokenCriteria {
  tenant?: string;
  submissionId?: string;
  intakeId?: string;
  /** `current` is the token of the submission's version; `stale` any older one. */
  status?: "current" | "stale";
  expiresBefore?: Instant;
  expiresAfter?: Instant;
}

/** Looks tokens up. They are written by `Store.commit` alone. */
export interface TokenIndex {
  /** By hash, current or stale, expired or not; absent once cleaned up. */
  find(hash: Hash): Promise<TokenRow | undefined>;
  /** Newest first (by issue time, then version); at most `limit`. */
  query(criteria: TokenCriteria, page: { limit: number; offset?: number }): Promise<TokenRow[]>;
  count(criteria: TokenCriteria): Promise<number>;
  /**
   * Forgets at most `limit` tokens that expired before `before`, and answers how many. The current token of a submission that
   * has not ended is never forgotten. Call again until it answers less than `limit`.
   */
  forgetExpired(before: Instant, limit: number): Promise<number>;
  health(): Promise<Health>;
}
