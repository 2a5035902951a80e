import type { AlarmKind } from "@formbridge/contract";
import type { Evidence } from "../domain/alarms/signals.ts";
import type { KeyExpiryReason } from "../domain/idempotency/audit-payloads.ts";
import type { KeyRef } from "../domain/idempotency/key-record.ts";
import type { FailedUse } from "../domain/tokens/audit-payloads.ts";

/** Why the use of a token or session was refused. */
export type TokenFailure = FailedUse | "unknown" | "unavailable";

/**
 * What a call is about, filled in while it runs, for metrics, the log and traces. A transport that wants to read it
 * passes one in (`Caller.facts`). It contains ids and hashes, never a token, a key or a value.
 */
export interface CallFacts {
  requestId?: string;
  traceId?: string;
  operation?: string;
  /** `ok`, or the type of the error. */
  outcome?: string;
  intakeId?: string;
  submissionId?: string;
  version?: number;
  /** Hash of the presented token. */
  tokenHash?: string;
  /** A token or a session was presented. */
  presented?: boolean;
  failure?: TokenFailure;
  validationMs?: number;
  ttlRemainingMs?: number;
  actor?: { kind: string; id: string };
  key?: KeyRef;
  replayed?: boolean;
  /** The call needs something that this server was not set up with, such as e-mail or storage for files. */
  notSetUp?: boolean;
  /** Why the server failed. */
  cause?: string;
}

/** An idempotency key, without what must not be revealed. */
export interface MeasuredKey extends KeyRef {
  intakeId: string;
}

/** What can be measured and logged. Never a token, a key or a value. */
export type Measure =
  | { name: "operation"; operation: string; outcome: string; ms: number; facts: CallFacts }
  | { name: "commit"; outcome: "committed" | "key_taken" | "stale" | "too_late" | "down"; ms: number }
  | { name: "group_commit"; changes: number; ms: number }
  | { name: "token_created"; intakeId: string; ms: number }
  | { name: "token_expired"; reason: "ttl" | "terminal_state" | "admin_revoked" }
  | { name: "token_handed_off"; from: "agent" | "human"; to: "agent" | "human"; ms: number }
  | { name: "token_conflict"; intakeId: string; submissionId: string; attemptedVersion: number; currentVersion: number }
  | { name: "lookup_timeout" }
  | { name: "submitted"; intakeId: string; ms: number; writes: number; by: "agent" | "human" | "both" }
  | { name: "abandoned"; intakeId: string; step: string }
  | { name: "key_stored"; key: MeasuredKey; submissionId: string; bytes: number }
  | { name: "key_replaced"; key: MeasuredKey }
  | {
      name: "key_expired";
      key: MeasuredKey;
      reason: KeyExpiryReason;
      ttlMs: number;
      lifetimeMs: number;
    }
  | { name: "key_looked_up"; key: MeasuredKey; hit: boolean }
  | { name: "replay"; key: MeasuredKey; submissionId: string; replayCount: number; originalAt: number }
  | { name: "key_conflict"; key: MeasuredKey; type: "payload_mismatch" | "key_collision"; submissionId: string }
  | { name: "lock_attempt"; key: MeasuredKey; queueDepth: number; holder: string }
  | { name: "lock_wait"; key: MeasuredKey; outcome: "entered" | "timed_out"; ms: number }
  | { name: "lock_contention"; key: MeasuredKey; waitMs: number; queueDepth: number; holder: string }
  | { name: "lock_held"; key: MeasuredKey; ms: number }
  | { name: "lock_abandoned"; backend: "redis"; ageMs: number }
  | { name: "delivery"; destination: string; outcome: "accepted" | "failed"; ms: number }
  | { name: "delivery_dead"; intakeId: string }
  | { name: "webhook"; webhookId: string; outcome: "accepted" | "failed"; ms: number; lagMs: number }
  | { name: "notice"; outcome: "sent" | "failed" | "given_up" }
  | { name: "upload"; outcome: "requested" | "completed" | "rejected" | "abandoned"; bytes: number }
  | { name: "watchers"; change: 1 | -1 }
  | { name: "rate_limited"; rule: string }
  | ({ name: "incident"; kind: AlarmKind; incidentId: string } & Evidence)
  | { name: "alarm_signals"; outcome: "counted" | "dropped"; count: number }
  | { name: "audit_notes"; outcome: "written" | "retried" | "lost"; count: number }
  | { name: "token_cache"; hit: boolean }
  | { name: "breaker"; backend: string; state: "closed" | "open" | "half_open"; cause?: unknown }
  | { name: "breaker_rejected"; backend: string; access: "read" | "write" }
  | { name: "pool_exhausted"; backend: "postgres" }
  | {
      name: "swept";
      what:
        | "expired"
        | "warned"
        | "erased"
        | "removed"
        | "tokens"
        | "records"
        | "handoffs"
        | "uploads"
        | "links"
        | "republished";
      count: number;
    };

/** Where measures go. Must not throw and must return at once. */
export interface Instrumentation {
  record(measure: Measure): void;
}

export const silent: Instrumentation = { record: () => {} };
