import type { CallFacts, Measure, MeasuredKey } from "@formbridge/core";
import { createRatioWindow, type RatioWindow } from "./ratio-window.ts";
import type { Metrics } from "./registry.ts";

const FIVE_MINUTES = 300_000;
const A_DAY = 86_400_000;
/** A key that is used again this soon after its conflict counts as a retry. */
const RETRY_MS = 60_000;
const MAX_CONFLICTS = 10_000;

/** What metrics call operations that present a token. */
const TOKEN_OPERATIONS: Record<string, string> = {
  getSubmission: "get",
  awaitChange: "get",
  setFields: "patch",
  validate: "validate",
  submit: "submit",
  requestUpload: "upload",
  confirmUpload: "upload",
  abandonUpload: "upload",
  cancel: "cancel",
  createHandoff: "handoff",
  listHandoffs: "handoff",
  completeHandoff: "handoff",
  getEvents: "events",
  watchEvents: "events",
};

/** Errors that are not the caller's doing. */
const OURS = new Set(["internal_error", "service_unavailable"]);

function outcomeOf(outcome: string, { notSetUp }: CallFacts): "success" | "refused" | "error" {
  if (outcome === "ok") return "success";
  return OURS.has(outcome) && notSetUp !== true ? "error" : "refused";
}

/** What is wrong with a token itself, whatever its submission's state is. */
const VALIDATION_ERRORS: Record<string, string> = {
  malformed: "malformed",
  unknown: "unknown",
  ttl_elapsed: "lapsed",
  admin_revoked: "revoked",
  handoff_revoked: "revoked",
};

/** Turns what operations report into metrics. */
export function createMeasureRecorder(metrics: Metrics, now: () => number): (measure: Measure) => void {
  const conflicts = createRatioWindow(FIVE_MINUTES, now);
  const abandonment = createRatioWindow(A_DAY, now);
  const hits = new Map<string, RatioWindow>();
  const conflicted = new Map<string, number>();
  const active = new Map<string, number>();
  let watchers = 0;

  function hitsOf(intakeId: string): RatioWindow {
    const name = metrics.shownAs("intake_id", intakeId);
    const known = hits.get(name) ?? createRatioWindow(FIVE_MINUTES, now);
    hits.set(name, known);
    return known;
  }

  metrics.onCollect(() => {
    metrics.set("formbridge_token_conflict_rate", conflicts.ratio());
    metrics.set("formbridge_submission_abandonment_rate", abandonment.ratio());
    for (const [intakeId, window] of hits)
      metrics.set("formbridge_idempotency_cache_hit_rate", window.ratio(), intakeId);
    const oldest = Math.min(...active.values());
    const age = active.size === 0 ? 0 : (performance.now() - oldest) / 1000;
    metrics.set("formbridge_idempotency_lock_age_seconds", age);
    metrics.set("formbridge_sse_watchers", watchers);
  });

  function operationEnded({ operation, outcome, ms, facts }: Measure & { name: "operation" }): void {
    const result = outcomeOf(outcome, facts);
    metrics.observe("formbridge_operation_duration_seconds", ms / 1000, operation, result);
    if (facts.presented === true) tokenUsed(TOKEN_OPERATIONS[operation] ?? "other", result, facts);
    if (facts.key !== undefined && result === "success") keyUsed(facts, ms);
  }

  function tokenUsed(operation: string, outcome: string, facts: CallFacts): void {
    const { failure, validationMs = 0, ttlRemainingMs } = facts;
    metrics.count("formbridge_token_accessed_count_total", 1, operation, outcome);
    metrics.observe("formbridge_token_accessed_duration_seconds", validationMs / 1000, operation);
    if (ttlRemainingMs !== undefined) metrics.observe("formbridge_token_ttl_remaining_seconds", ttlRemainingMs / 1000);
    if (operation === "patch" || operation === "submit") conflicts.add(failure === "rotated");
    if (failure === undefined) return;
    metrics.count("formbridge_token_accessed_error_total", 1, failure);
    const type = VALIDATION_ERRORS[failure];
    if (type !== undefined) metrics.count("formbridge_token_validation_error_total", 1, type);
  }

  function keyUsed({ key, intakeId = "", replayed = false }: CallFacts, ms: number): void {
    if (key === undefined) return;
    metrics.count("formbridge_idempotency_request_total", 1, intakeId, key.operation, String(replayed));
    metrics.observe("formbridge_idempotency_request_duration_ms", ms, intakeId, key.operation, String(replayed));
    hitsOf(intakeId).add(replayed);
  }

  function keyConflicted(key: MeasuredKey, type: string): void {
    metrics.count("formbridge_idempotency_conflict_total", 1, key.intakeId, type);
    if (conflicted.size >= MAX_CONFLICTS) conflicted.delete(conflicted.keys().next().value ?? "");
    conflicted.set(nameOf(key), now());
  }

  function keyLookedUp(key: MeasuredKey): void {
    if (conflicted.size === 0) return;
    const at = conflicted.get(nameOf(key));
    if (at === undefined) return;
    conflicted.delete(nameOf(key));
    if (now() - at > RETRY_MS) return;
    metrics.count("formbridge_idempotency_conflict_retry_after_conflict_total", 1, key.intakeId);
  }

  function lockWaited({ key, outcome, ms }: Measure & { name: "lock_wait" }): void {
    metrics.observe("formbridge_idempotency_lock_wait_time_ms", ms, key.intakeId);
    if (outcome === "timed_out") metrics.count("formbridge_idempotency_lock_timeout_total", 1, key.intakeId);
    if (outcome !== "entered") return;
    metrics.count("formbridge_idempotency_lock_acquired_total", 1, key.intakeId);
    active.set(nameOf(key), performance.now());
  }

  return (measure) => {
    switch (measure.name) {
      case "operation":
        return operationEnded(measure);
      case "token_created":
        metrics.count("formbridge_token_created_count_total", 1, measure.intakeId);
        return metrics.observe("formbridge_token_created_duration_seconds", measure.ms / 1000);
      case "token_expired":
        return metrics.count("formbridge_token_expired_count_total", 1, measure.reason);
      case "token_handed_off": {
        const direction = `${measure.from}_to_${measure.to}`;
        metrics.count("formbridge_token_handoff_count_total", 1, direction);
        return metrics.observe("formbridge_token_handoff_duration_seconds", measure.ms / 1000, direction);
      }
      case "token_conflict":
        return metrics.count("formbridge_token_conflict_count_total", 1, measure.intakeId);
      case "lookup_timeout":
        return metrics.count("formbridge_token_validation_timeout_total", 1);
      case "token_cache":
        if (measure.hit) return metrics.count("formbridge_token_store_cache_hit_total", 1);
        return metrics.count("formbridge_token_store_cache_miss_total", 1);
      case "submitted":
        abandonment.add(false);
        metrics.observe(
          "formbridge_submission_created_to_submitted_duration_seconds",
          measure.ms / 1000,
          measure.intakeId,
        );
        metrics.observe("formbridge_submission_operations_per_submission", measure.writes, measure.intakeId);
        if (measure.by === "both") return metrics.count("formbridge_submission_multi_actor_count_total", 1);
        return metrics.count("formbridge_submission_single_actor_count_total", 1, measure.by);
      case "abandoned":
        abandonment.add(true);
        return metrics.count("formbridge_submission_abandoned_count_total", 1, measure.intakeId, measure.step);
      case "replay":
        return metrics.count(
          "formbridge_idempotency_request_replayed_total",
          1,
          measure.key.intakeId,
          measure.key.operation,
        );
      case "key_conflict":
        return keyConflicted(measure.key, measure.type);
      case "key_looked_up":
        return keyLookedUp(measure.key);
      case "key_expired":
        metrics.count("formbridge_idempotency_key_expired_total", 1, measure.key.intakeId, measure.reason);
        return metrics.observe(
          "formbridge_idempotency_key_average_lifetime_ms",
          measure.lifetimeMs,
          measure.key.intakeId,
        );
      case "lock_wait":
        return lockWaited(measure);
      case "lock_held":
        active.delete(nameOf(measure.key));
        return metrics.observe(
          "formbridge_idempotency_lock_held_duration_ms",
          measure.ms,
          measure.key.intakeId,
          measure.key.operation,
        );
      case "lock_abandoned":
        return metrics.count("formbridge_idempotency_lock_abandoned_total", 1, measure.backend);
      case "breaker":
        metrics.set("formbridge_idempotency_circuit_breaker_state", STATES[measure.state], measure.backend);
        if (measure.state !== "open") return;
        return metrics.count("formbridge_idempotency_circuit_breaker_opened_total", 1, measure.backend);
      case "breaker_rejected":
        return metrics.count(
          "formbridge_idempotency_circuit_breaker_rejected_requests_total",
          1,
          measure.backend,
          measure.access,
        );
      case "pool_exhausted":
        return metrics.count("formbridge_idempotency_storage_connection_pool_exhausted_total", 1, measure.backend);
      case "delivery":
        metrics.count("formbridge_delivery_attempts_total", 1, measure.destination, measure.outcome);
        return metrics.observe("formbridge_delivery_duration_seconds", measure.ms / 1000, measure.destination);
      case "delivery_dead":
        return metrics.count("formbridge_delivery_dead_total", 1, measure.intakeId);
      case "webhook":
        metrics.count("formbridge_webhook_attempts_total", 1, measure.outcome);
        metrics.set("formbridge_webhook_lag_seconds", measure.lagMs / 1000, measure.webhookId);
        return metrics.observe("formbridge_webhook_duration_seconds", measure.ms / 1000);
      case "notice":
        return metrics.count("formbridge_notices_total", 1, measure.outcome);
      case "upload":
        metrics.count("formbridge_uploads_total", 1, measure.outcome);
        if (measure.outcome === "completed") metrics.count("formbridge_upload_bytes_total", measure.bytes);
        return;
      case "watchers":
        watchers += measure.change;
        return;
      case "rate_limited":
        return metrics.count("formbridge_rate_limited_total", 1, measure.rule);
      case "incident":
        return metrics.count("formbridge_incidents_total", 1, measure.kind);
      case "alarm_signals":
        return metrics.count("formbridge_alarm_signals_total", measure.count, measure.outcome);
      case "audit_notes":
        return metrics.count("formbridge_audit_notes_total", measure.count, measure.outcome);
      case "swept":
        return metrics.count("formbridge_swept_total", measure.count, measure.what);
    }
  };
}

const STATES = { closed: 0, open: 1, half_open: 2 } as const;

const nameOf = ({ intakeId, operation, hash }: MeasuredKey): string => `${intakeId} ${operation} ${hash}`;
