import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import type { Sealed } from "../sealed.ts";

/** The operations that take an idempotency key. */
export type KeyedOperation = "create" | "setFields" | "submit";

/**
 * A hashed idempotency key. Tenant and intake, which complete its scope, come from the submission or intake beside it.
 */
export interface KeyRef {
  operation: KeyedOperation;
  hash: Hash;
}

/** What is recorded under an idempotency key. */
export interface KeyRecord {
  ref: KeyRef;
  submissionId: string;
  fingerprint: Hash;
  /** Who made the request, and so who may get the response again. */
  principal: string;
  /** The version that the original request was based on; 0 for a create. */
  carriedVersion: number;
  /** A recorded 422: the same key may be used again on a newer version. */
  failed: boolean;
  answer: Sealed;
  answerBy?: Instant;
  recordedAt: Instant;
  expiresAt: Instant;
  /** Kept this long after the submission's end, whatever `expiresAt` says. Absent: only `expiresAt` counts. */
  keepAfterEndMs?: number;
}

/**
 * What remains of a record when its submission is erased: the key stays taken, without revealing by whom or for what.
 */
export const erasedRecord = { fingerprint: "0".repeat(64), principal: "erased", answer: "" } as const;

/** Whether a record is still valid. One rule for lookups and clean-up. */
export function isLive(record: KeyRecord, submissionEndedAt: Instant | undefined, now: Instant): boolean {
  if (now < record.expiresAt) return true;
  if (record.keepAfterEndMs === undefined) return false;
  return submissionEndedAt === undefined || now < submissionEndedAt + record.keepAfterEndMs;
}
