import type { EventActor, JsonObject } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import type { KeyRecord, KeyRef } from "./key-record.ts";

/**
 * The payloads of the idempotency stream, one builder per event type; `EVENT_PAYLOADS` in the contract defines them.
 * Keys and requests appear only as hashes.
 */
interface AboutKey {
  ref: KeyRef;
  intakeId: string;
}

interface AboutRecord {
  record: KeyRecord;
  intakeId: string;
  now: Instant;
}

const keyPart = ({ ref, intakeId }: AboutKey): JsonObject => ({
  operation: ref.operation,
  intakeId,
  keyHash: ref.hash,
});
const recordPart = ({ record, intakeId }: AboutRecord): JsonObject => keyPart({ ref: record.ref, intakeId });
const since = (from: Instant, now: Instant): number => Math.max(0, now - from);

export const keyCreatedPayload = (about: AboutKey & { now: Instant; expiresAt: Instant }): JsonObject => ({
  ...keyPart(about),
  ttl_ms: since(about.now, about.expiresAt),
  expiresAt: toIso(about.expiresAt),
});

/** `replayCount` counts the replays of this idempotency key, including this one. */
export const replayPayload = (about: AboutRecord & { replayCount: number }): JsonObject => ({
  ...recordPart(about),
  replayCount: about.replayCount,
  originalTimestamp: toIso(about.record.recordedAt),
  timeSinceOriginal_ms: since(about.record.recordedAt, about.now),
});

/**
 * Written to the history of the record's submission: in another one it would reveal whose key it is. `foreign`: the key
 * was used by someone else.
 */
export const conflictPayload = (
  about: AboutRecord & { verdict: "conflict" | "foreign"; fingerprint: Hash },
): JsonObject => ({
  ...recordPart(about),
  conflict_type: about.verdict === "foreign" ? "key_collision" : "payload_mismatch",
  originalRequestHash: about.record.fingerprint,
  conflictingRequestHash: about.fingerprint,
  originalTimestamp: toIso(about.record.recordedAt),
  originalActor: { ...recordedBy(about.record.principal) },
});

/** Why a record was deleted: its time was up, or an operator did it. */
export type KeyExpiryReason = "ttl_elapsed" | "explicit_delete";

export const keyExpiredPayload = (
  about: AboutKey & {
    recordedAt: Instant;
    expiresAt: Instant;
    now: Instant;
    replayCount: number;
    reason: KeyExpiryReason;
  },
): JsonObject => ({
  ...keyPart(about),
  ttl_ms: since(about.recordedAt, about.expiresAt),
  lifetime_ms: since(about.recordedAt, about.now),
  replayCount: about.replayCount,
  reason: about.reason,
});

/** `queueDepth` counts the requests waiting for the key when this one arrived; `lockHolder` names a server instance. */
export const lockContentionPayload = (
  about: AboutKey & { waitMs: number; queueDepth: number; lockHolder: string },
): JsonObject => ({
  ...keyPart(about),
  waitTime_ms: Math.round(about.waitMs),
  queueDepth: about.queueDepth,
  lockHolder: about.lockHolder,
});

/** Who made a record, as far as its principal shows: an API key's actor by name, others by the kind of credential. */
function recordedBy(principal: string): Pick<EventActor, "kind" | "id"> {
  const [, scheme, rest = ""] = /^([a-z-]+)(?::(.*))?$/s.exec(principal) ?? [];
  if (scheme === "handoff") return { kind: "human", id: rest };
  const [, kind, id] = scheme === "actor" ? (/^(agent|human|system):(.*)$/s.exec(rest) ?? []) : [];
  if (kind === undefined || id === undefined)
    return { kind: "unknown", id: scheme === "submission" ? "token_bearer" : "anonymous" };
  return { kind: kind as EventActor["kind"], id };
}
