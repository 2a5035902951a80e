import type { Health } from "./health.ts";
import type { KeyRecord, KeyRef } from "./store.ts";

/** A key with its whole scope. */
export interface ScopedKey extends KeyRef {
  tenant: string;
  intakeId: string;
}

/**
 * Keeps concurrent requests with one key in a line, and looks records up. Records are written by `Store.commit` alone, whose
 * unique key is the truth: the line only spares the losers their work.
 */
export interface Idempotency {
  /**
   * Waits until nobody else is inside with this key, in order of arrival, and answers the way out, to be called exactly once.
   * Answers undefined when `timeoutMs` passed, or `maxWaiters` were waiting already. A process that died is not inside.
   */
  enter(key: ScopedKey, limits: { timeoutMs: number; maxWaiters: number }): Promise<(() => void) | undefined>;
  /** The live record, or undefined. */
  find(key: ScopedKey): Promise<KeyRecord | undefined>;
  /** The keys of all records of a submission. */
  keysOf(of: { tenant: string; submissionId: string }): Promise<ScopedKey[]>;
  /** Forgets at most `limit` records that are no longer live, and answers how many. */
  forgetExpired(limit: number): Promise<number>;
  health(): Promise<Health>;
}
