import type { Measure } from "@formbridge/core";
import { SLOW_MS, type StorageNote } from "../observe-backend.ts";
import { keyFields, plainText } from "./fields.ts";

/** As much of a logger as is needed here. */
export interface Log {
  isLevelEnabled(level: string): boolean;
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
  fatal(fields: object, text: string): void;
}

export interface LogOptions {
  /** Shares of lines that are written; warnings and errors always are. */
  sampling: { debug: number; lookups: number };
  chance?: () => number;
}

/** Responses that are larger than this make every replay expensive. */
const LARGE_ANSWER_BYTES = 524_288;
const IDEMPOTENCY = { component: "idempotency" };

/** Writes lines about what operations report. */
export function createLogRecorder(
  log: Log,
  { sampling, chance = Math.random }: LogOptions,
): (measure: Measure) => void {
  const isDebug = log.isLevelEnabled("debug");
  return (measure) => {
    switch (measure.name) {
      case "lock_attempt":
        if (!isDebug || chance() >= sampling.debug) return;
        return log.debug(
          {
            ...IDEMPOTENCY,
            event: "idempotency.lock.attempt",
            ...keyFields(measure.key),
            queuePosition: measure.queueDepth,
          },
          "waiting for an idempotency key",
        );
      case "key_looked_up":
        if (!isDebug || chance() >= sampling.lookups) return;
        return log.debug(
          {
            ...IDEMPOTENCY,
            event: "idempotency.cache.lookup",
            ...keyFields(measure.key),
            result: measure.hit ? "hit" : "miss",
          },
          "looked for a recorded response",
        );
      case "replay":
        return log.info(
          {
            ...IDEMPOTENCY,
            event: "idempotency.replay",
            ...keyFields(measure.key),
            submissionId: measure.submissionId,
            replayCount: measure.replayCount,
            originalTimestamp: new Date(measure.originalAt).toISOString(),
          },
          "returned a recorded response",
        );
      case "operation": {
        const { facts, ms, outcome } = measure;
        if (facts.key === undefined || outcome !== "ok" || facts.replayed === true) return;
        const { intakeId = "", submissionId, actor } = facts;
        return log.info(
          {
            ...IDEMPOTENCY,
            event: "idempotency.processed",
            ...keyFields({ intakeId, ...facts.key }),
            ...(submissionId !== undefined && { submissionId }),
            ...(actor !== undefined && { actor: { kind: actor.kind } }),
            durationMs: Math.round(ms * 100) / 100,
          },
          "executed, and recorded the response",
        );
      }
      case "key_expired":
        return log.info(
          {
            ...IDEMPOTENCY,
            event: "idempotency.key.expired",
            ...keyFields(measure.key),
            ttlMs: measure.ttlMs,
            lifetimeMs: measure.lifetimeMs,
            reason: measure.reason,
          },
          "deleted a recorded response",
        );
      case "lock_contention":
        return log.warn(
          {
            ...IDEMPOTENCY,
            event: "idempotency.lock.contention",
            ...keyFields(measure.key),
            waitTimeMs: Math.round(measure.waitMs),
            queueDepth: measure.queueDepth,
            lockHolder: measure.holder,
          },
          "a request had to wait for another one with its idempotency key",
        );
      case "lock_abandoned":
        return log.warn(
          { ...IDEMPOTENCY, event: "idempotency.lock.abandoned", backend: measure.backend, lockAgeMs: measure.ageMs },
          "a lock was lost before its holder was done",
        );
      case "lock_wait":
        if (measure.outcome === "entered") return;
        return log.error(
          {
            ...IDEMPOTENCY,
            event: "idempotency.lock.timeout",
            ...keyFields(measure.key),
            waitTimeMs: Math.round(measure.ms),
          },
          "gave up waiting for an idempotency key",
        );
      case "key_conflict":
        return log.error(
          {
            ...IDEMPOTENCY,
            event: "idempotency.conflict",
            ...keyFields(measure.key),
            submissionId: measure.submissionId,
            conflictType: measure.type,
          },
          "an idempotency key was used for another request",
        );
      case "key_stored":
        if (measure.bytes <= LARGE_ANSWER_BYTES) return;
        return log.error(
          {
            ...IDEMPOTENCY,
            event: "idempotency.cache.oversized",
            ...keyFields(measure.key),
            responseSizeBytes: measure.bytes,
            maxSizeBytes: LARGE_ANSWER_BYTES,
          },
          "a recorded response is very large",
        );
      case "breaker":
        return logBreaker(log, measure);
      case "audit_notes":
        if (measure.outcome !== "lost") return;
        return log.error(
          { component: "audit", event: "audit.lost", count: measure.count },
          "audit notes didn't fit into memory and were lost",
        );
      case "incident": {
        const { name: _, kind, incidentId, tokenHash, address, ...evidence } = measure;
        const about = { incidentId, kind, ...evidence, ...(tokenHash && { tokenHash: tokenHash.slice(0, 16) }) };
        const actor = address === undefined ? {} : { actor: { ipAddress: address } };
        return log.error({ component: "alarms", event: "security.incident", ...about, ...actor }, "an alarm tripped");
      }
      case "delivery_dead":
        return log.error(
          { component: "delivery", event: "delivery.dead", intakeId: measure.intakeId },
          "a delivery was given up after its last attempt",
        );
      case "swept":
        return log.info(
          { component: "clean-up", event: "clean-up.done", what: measure.what, count: measure.count },
          "cleaned up",
        );
    }
  };
}

const messageOf = (error: unknown): string => plainText(error instanceof Error ? error.message : String(error));

/** One line when a backend goes down, one when it is back. The database's breaker logs its own. */
function logBreaker(log: Log, { backend, state, cause }: Measure & { name: "breaker" }): void {
  if (state === "open") {
    log.warn(
      { ...IDEMPOTENCY, event: "idempotency.circuit_breaker.opened", backend, cause: messageOf(cause) },
      `${backend} does not respond; calls to it are refused until it does`,
    );
    if (backend === "redis") return;
    log.fatal({ component: "storage", event: "storage.down", backend, cause: messageOf(cause) }, "the store is down");
  } else if (state === "closed") {
    log.info({ component: "storage", event: "storage.up", backend }, "the store is back");
  }
}

/** A storage operation that failed or was slow. */
export function logStorage(log: Log, { operation, backend, ms, error }: StorageNote): void {
  const about = { ...IDEMPOTENCY, operation, backend, durationMs: Math.round(ms) };
  if (error === undefined) {
    const event = "idempotency.storage.slow";
    log.warn({ ...about, event, thresholdMs: SLOW_MS }, "a storage operation was slow");
    return;
  }
  log.error({ ...about, event: "idempotency.storage.error", error: messageOf(error) }, "a storage operation failed");
}
