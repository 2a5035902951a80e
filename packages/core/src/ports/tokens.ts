import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import type { TokenRow } from "../domain/tokens/token-row.ts";
import type { Health } from "./health.ts";

export interface TokenCriteria {
  tenant?: string;
  submissionId?: string;
  intakeId?: string;
  /** `current` is the token of the submission's version; `stale` any older one. */
  status?: "current" | "stale";
  expiresBefore?: Instant;
  expiresAfter?: Instant;
}

/** Reads tokens. Only `Store.commit` writes them. */
export interface TokenIndex {
  /** By hash, current or stale, expired or not; absent once cleaned up. */
  find(hash: Hash): Promise<TokenRow | undefined>;
  /** Newest first (by issue time, then version); at most `limit`. */
  query(criteria: TokenCriteria, page: { limit: number; offset?: number }): Promise<TokenRow[]>;
  count(criteria: TokenCriteria): Promise<number>;
  /**
   * Deletes at most `limit` tokens that expired before `before`; returns how many. Keeps the current token of a submission that
   * hasn't ended. Call again until it returns less than `limit`.
   */
  forgetExpired(before: Instant, limit: number): Promise<number>;
  health(): Promise<Health>;
}
