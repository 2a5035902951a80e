import type { KeyRecord, KeyRef } from "../domain/idempotency/key-record.ts";
import type { Instant } from "../domain/instant.ts";
import type { Health } from "./health.ts";

/** A key with its whole scope. */
export interface ScopedKey extends KeyRef {
  tenant: string;
  intakeId: string;
}

export interface QueueLimits {
  timeoutMs: number;
  /** Beyond this many waiters, `enter` calls `onFull` and returns undefined at once. */
  maxWaiters: number;
  onFull?: () => void;
  /** Called before waiting, with the number of waiters and the instance that holds the key. */
  onQueued?: (queue: { depth: number; holder: string }) => void;
}

export interface ExpiredRecord extends ScopedKey {
  submissionId: string;
  recordedAt: Instant;
  expiresAt: Instant;
}

/** A record with the rest of its scope. */
export interface FoundRecord extends KeyRecord {
  tenant: string;
  intakeId: string;
}

/**
 * Queues concurrent requests with the same key, and reads records. Only `Store.commit` writes records, and its unique key decides:
 * the queue only saves work that would be thrown away.
 */
export interface Idempotency {
  /**
   * Waits for the lock on this key, first come first served, and returns the function that releases it, to be called exactly once.
   * Returns undefined after `timeoutMs`, or at once if `maxWaiters` already wait. A process that dies loses its lock; where that
   * takes time to detect, nobody waits for it once the key has a record.
   */
  enter(key: ScopedKey, limits: QueueLimits): Promise<(() => void) | undefined>;
  /** The live record, or undefined. */
  find(key: ScopedKey): Promise<KeyRecord | undefined>;
  /**
   * A tenant's records whose key hash begins with `hash` (hexadecimal, lower case), in all intakes and operations, live or expired but
   * not yet deleted. At most `limit`, by intake, operation and hash. Costs no scan of all records.
   */
  search(where: { tenant: string; hash: string }, limit: number): Promise<FoundRecord[]>;
  /** At most `limit` expired records, those first that expired first. They are deleted by a commit (`Change.dropKeys`). */
  expired(limit: number): Promise<ExpiredRecord[]>;
  health(): Promise<Health>;
}
