/**
 * Every metric that FormBridge exports. `docs/reference/metrics.md` is made from this table, and a metric that is not in it can't be
 * recorded. Names are those that Prometheus shows; `seed` is what the design documents call it.
 *
 * Durations are in seconds, except for those of idempotency that the design documents give in milliseconds. No label contains a token,
 * a key, an address or a value. Labels in `LIMITED_LABELS` could take any number of values: beyond a limit, new ones become `other`.
 */
export interface MetricSpec {
  kind: "counter" | "gauge" | "histogram";
  unit?: "s" | "ms" | "By" | "1";
  labels?: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
  help: string;
  seed?: string;
}

/** Labels whose values are not a closed set. */
export const LIMITED_LABELS = ["intake_id", "step", "webhook_id", "tool"] as const;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const LONG_SECONDS = [1, 10, 60, 300, 900, 3_600, 14_400, 86_400, 259_200, 604_800, 2_592_000] as const;
const REQUEST_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;
const STORAGE_MS = [1, 5, 10, 25, 50, 100, 250, 500, 1_000] as const;
const LOCK_WAIT_MS = [0, 10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;
const LOCK_HELD_MS = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;
const KEY_LIFE_MS = [60_000, 300_000, 600_000, 1_800_000, 3_600_000, 21_600_000, 86_400_000] as const;

export const TOKEN_METRICS = {
  formbridge_token_created_count_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Submissions created with a token, and tokens reissued or renewed. Rotation by a write is not counted.",
    seed: "token.created.count",
  },
  formbridge_token_created_duration_seconds: {
    kind: "histogram",
    unit: "s",
    buckets: SECONDS,
    help: "Time from the start of the call until the token is committed.",
    seed: "token.created.duration",
  },
  formbridge_token_accessed_count_total: {
    kind: "counter",
    labels: ["operation", "outcome"],
    help: "Calls that presented a token or a session. Operation is get, patch, validate, submit, upload, cancel, handoff, events or other; outcome is success, refused (the caller's doing) or error (ours).",
    seed: "token.accessed.count",
  },
  formbridge_token_accessed_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["operation"],
    buckets: SECONDS,
    help: "Validation of a presented token or session: look-up and expiry check.",
    seed: "token.accessed.duration",
  },
  formbridge_token_accessed_error_total: {
    kind: "counter",
    labels: ["reason"],
    help: "Presented tokens and sessions whose use was refused, by reason: unknown, malformed, rotated, ttl_elapsed, admin_revoked, handoff_revoked, finalized, cancelled, expired, unavailable.",
    seed: "token.accessed.error",
  },
  formbridge_token_expired_count_total: {
    kind: "counter",
    labels: ["reason"],
    help: "Tokens that stopped working: ttl, terminal_state or admin_revoked.",
    seed: "token.expired.count",
  },
  formbridge_token_ttl_remaining_seconds: {
    kind: "histogram",
    unit: "s",
    buckets: LONG_SECONDS,
    help: "Time left until a token lapses, when it is used.",
    seed: "token.ttl_remaining",
  },
  formbridge_token_conflict_count_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Calls with a token or version that a later write has replaced.",
    seed: "token.conflict.count",
  },
  formbridge_token_conflict_rate: {
    kind: "gauge",
    unit: "1",
    help: "Conflicts as a share of writes and conflicts, over the last 5 minutes.",
    seed: "token.conflict.rate",
  },
  formbridge_token_handoff_count_total: {
    kind: "counter",
    labels: ["direction"],
    help: "Submissions that passed from an agent to a human or back: agent_to_human, human_to_agent.",
    seed: "token.handoff.count",
  },
  formbridge_token_handoff_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["direction"],
    buckets: LONG_SECONDS,
    help: "Time from the last write of one side to the first action of the other.",
    seed: "token.handoff.duration",
  },
  formbridge_token_validation_error_total: {
    kind: "counter",
    labels: ["type"],
    help: "Invalid tokens and sessions, by reason: malformed, unknown, lapsed, revoked.",
    seed: "token.validation.error",
  },
  formbridge_token_validation_timeout_total: {
    kind: "counter",
    help: "Token look-ups that took longer than FORMBRIDGE_TOKEN_LOOKUP_TIMEOUT_MS and were given up.",
    seed: "token.validation.timeout",
  },
  formbridge_token_storage_error_total: {
    kind: "counter",
    labels: ["backend"],
    help: "Failed look-ups, writes and clean-ups of tokens in the store.",
    seed: "token.storage.error",
  },
} as const satisfies Record<string, MetricSpec>;

export const STORE_METRICS = {
  formbridge_token_store_get_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["backend"],
    buckets: SECONDS,
    help: "Loading a submission by its token, session or id.",
    seed: "token_store.get.duration",
  },
  formbridge_token_store_set_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["backend"],
    buckets: SECONDS,
    help: "Committing a change durably.",
    seed: "token_store.set.duration",
  },
  formbridge_token_store_delete_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["backend"],
    buckets: SECONDS,
    help: "Deleting a batch of lapsed tokens.",
    seed: "token_store.delete.duration",
  },
  formbridge_token_store_error_count_total: {
    kind: "counter",
    labels: ["operation", "error_type"],
    help: "Store calls that failed: get, set, delete; unavailable (the store is down), refused (this one call), rejected (the breaker is open), timeout.",
    seed: "token_store.error.count",
  },
  formbridge_token_store_size: {
    kind: "gauge",
    labels: ["backend"],
    help: "Tokens stored, current and rotated. Counted once at the start and kept from then on; in PostgreSQL the planner's estimate.",
    seed: "token_store.size",
  },
  formbridge_token_store_max_size: {
    kind: "gauge",
    help: "The number of tokens that the store was sized for (FORMBRIDGE_TOKEN_STORE_MAX).",
    seed: "token_store_max_size",
  },
  formbridge_token_store_memory_usage_bytes: {
    kind: "gauge",
    unit: "By",
    labels: ["backend"],
    help: "Memory used where tokens are kept: by Redis if it keeps them, else by this process.",
    seed: "token_store.memory_usage",
  },
  formbridge_token_store_cache_hit_total: {
    kind: "counter",
    help: "Token look-ups that Redis answered.",
    seed: "token_store.cache.hit",
  },
  formbridge_token_store_cache_miss_total: {
    kind: "counter",
    help: "Token look-ups that went on to the database.",
    seed: "token_store.cache.miss",
  },
} as const satisfies Record<string, MetricSpec>;

export const BUSINESS_METRICS = {
  formbridge_submission_created_to_submitted_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["intake_id"],
    buckets: LONG_SECONDS,
    help: "Time from creation until the first submit that was accepted.",
    seed: "submission.created_to_submitted.duration",
  },
  formbridge_submission_operations_per_submission: {
    kind: "histogram",
    labels: ["intake_id"],
    buckets: [1, 2, 3, 4, 5, 7, 10, 15, 25, 50, 100],
    help: "Writes per submission until it was submitted.",
    seed: "submission.operations_per_submission",
  },
  formbridge_submission_single_actor_count_total: {
    kind: "counter",
    labels: ["kind"],
    help: "Submissions that one kind of actor filled in and submitted: agent or human.",
    seed: "submission.single_actor.count",
  },
  formbridge_submission_multi_actor_count_total: {
    kind: "counter",
    help: "Submissions that agents and humans filled in together.",
    seed: "submission.multi_actor.count",
  },
  formbridge_submission_abandoned_count_total: {
    kind: "counter",
    labels: ["intake_id", "step"],
    help: "Submissions that expired before they were submitted, by the first field that was missing; complete when none was.",
    seed: "submission.abandoned.count",
  },
  formbridge_submission_abandonment_rate: {
    kind: "gauge",
    unit: "1",
    help: "Expired submissions as a share of those that expired or were submitted, over the last 24 hours, as far as this process saw them.",
    seed: "submission.abandonment_rate",
  },
} as const satisfies Record<string, MetricSpec>;

export const IDEMPOTENCY_METRICS = {
  formbridge_idempotency_request_total: {
    kind: "counter",
    labels: ["intake_id", "operation", "replayed"],
    help: "Requests with an idempotency key that were executed or replayed: create, setFields, submit.",
    seed: "idempotency.request.total",
  },
  formbridge_idempotency_request_replayed_total: {
    kind: "counter",
    labels: ["intake_id", "operation"],
    help: "Requests with an idempotency key that got a recorded response, once the replay was committed.",
    seed: "idempotency.request.replayed",
  },
  formbridge_idempotency_request_duration_ms: {
    kind: "histogram",
    unit: "ms",
    labels: ["intake_id", "operation", "replayed"],
    buckets: REQUEST_MS,
    help: "Time of a request with an idempotency key.",
    seed: "idempotency.request.duration_ms",
  },
  formbridge_idempotency_cache_hit_rate: {
    kind: "gauge",
    unit: "1",
    labels: ["intake_id"],
    help: "Replays as a share of requests with a key, over the last 5 minutes.",
    seed: "idempotency.cache_hit_rate",
  },
  formbridge_idempotency_storage_operation_total: {
    kind: "counter",
    labels: ["operation", "status", "backend"],
    help: "Storage operations on keys: store, retrieve, acquireLock, releaseLock; success or error.",
    seed: "idempotency.storage.operation.total",
  },
  formbridge_idempotency_storage_operation_duration_ms: {
    kind: "histogram",
    unit: "ms",
    labels: ["operation", "backend"],
    buckets: STORAGE_MS,
    help: "Time of a storage operation on a key. acquireLock includes the wait for another holder.",
    seed: "idempotency.storage.operation.duration_ms",
  },
  formbridge_idempotency_storage_error_rate: {
    kind: "gauge",
    unit: "1",
    labels: ["operation", "backend"],
    help: "Failed storage operations as a share of all, over the last minute.",
    seed: "idempotency.storage.error_rate",
  },
  formbridge_idempotency_storage_connection_pool_active: {
    kind: "gauge",
    labels: ["backend"],
    help: "Connections to the database that are in use. An embedded database has one.",
    seed: "idempotency.storage.connection_pool.active",
  },
  formbridge_idempotency_storage_connection_pool_exhausted_total: {
    kind: "counter",
    labels: ["backend"],
    help: "Calls that found every connection to PostgreSQL in use.",
    seed: "idempotency.storage.connection_pool.exhausted",
  },
  formbridge_idempotency_lock_acquired_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Idempotency keys that a request locked.",
    seed: "idempotency.lock.acquired.total",
  },
  formbridge_idempotency_lock_timeout_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Requests that waited for their key as long as FORMBRIDGE_KEY_WAIT_MS allows and were refused as locked.",
    seed: "idempotency.lock.timeout.total",
  },
  formbridge_idempotency_lock_abandoned_total: {
    kind: "counter",
    labels: ["backend"],
    help: "Locks that were lost before their holder released them, because it stalled for longer than their lease.",
    seed: "idempotency.lock.abandoned.total",
  },
  formbridge_idempotency_lock_wait_time_ms: {
    kind: "histogram",
    unit: "ms",
    labels: ["intake_id"],
    buckets: LOCK_WAIT_MS,
    help: "How long a request waited for its key.",
    seed: "idempotency.lock.wait_time_ms",
  },
  formbridge_idempotency_lock_held_duration_ms: {
    kind: "histogram",
    unit: "ms",
    labels: ["intake_id", "operation"],
    buckets: LOCK_HELD_MS,
    help: "How long a request held the lock on its key.",
    seed: "idempotency.lock.held_duration_ms",
  },
  formbridge_idempotency_lock_age_seconds: {
    kind: "gauge",
    unit: "s",
    help: "Age of the oldest lock that a request of this process holds; 0 when none does.",
  },
  formbridge_idempotency_circuit_breaker_state: {
    kind: "gauge",
    labels: ["backend"],
    help: "0 closed, 1 open, 2 half-open. Only Redis has half-open: one call a second goes to it.",
    seed: "idempotency.circuit_breaker.state",
  },
  formbridge_idempotency_circuit_breaker_opened_total: {
    kind: "counter",
    labels: ["backend"],
    help: "Times that a breaker opened.",
    seed: "idempotency.circuit_breaker.opened.total",
  },
  formbridge_idempotency_circuit_breaker_rejected_requests_total: {
    kind: "counter",
    labels: ["backend", "operation"],
    help: "Calls that an open breaker refused: read or write.",
    seed: "idempotency.circuit_breaker.rejected_requests.total",
  },
  formbridge_idempotency_conflict_total: {
    kind: "counter",
    labels: ["intake_id", "conflict_type"],
    help: "Idempotency keys that were used for another request (payload_mismatch) or by another caller (key_collision).",
    seed: "idempotency.conflict.total",
  },
  formbridge_idempotency_conflict_retry_after_conflict_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Calls with an idempotency key within 60 seconds of its conflict.",
    seed: "idempotency.conflict.retry_after_conflict",
  },
  formbridge_idempotency_key_expired_total: {
    kind: "counter",
    labels: ["intake_id", "reason"],
    help: "Recorded responses that were deleted: ttl_elapsed or explicit_delete.",
    seed: "idempotency.key.expired.total",
  },
  formbridge_idempotency_key_active_count: {
    kind: "gauge",
    labels: ["intake_id"],
    help: "Recorded responses that are stored. Counted once at the start and kept from then on; in PostgreSQL estimated from a sample.",
    seed: "idempotency.key.active_count",
  },
  formbridge_idempotency_key_average_lifetime_ms: {
    kind: "histogram",
    unit: "ms",
    labels: ["intake_id"],
    buckets: KEY_LIFE_MS,
    help: "How long a recorded response was kept.",
    seed: "idempotency.key.average_lifetime_ms",
  },
} as const satisfies Record<string, MetricSpec>;

export const SERVICE_METRICS = {
  formbridge_operation_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["operation", "outcome"],
    buckets: SECONDS,
    help: "Operations over HTTP, MCP and by jobs. Outcome is success, refused (the caller's doing) or error (ours).",
  },
  formbridge_http_request_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["method", "route", "status"],
    buckets: SECONDS,
    help: "HTTP requests by the pattern of their path and their status code.",
  },
  formbridge_mcp_call_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["tool", "outcome"],
    buckets: SECONDS,
    help: "Calls of MCP tools. Outcome is success or error.",
  },
  formbridge_sse_watchers: { kind: "gauge", help: "Clients that follow events of a submission live." },
  formbridge_rate_limited_total: {
    kind: "counter",
    labels: ["rule"],
    help: "Calls that a rate limit refused, by limit.",
  },
  formbridge_delivery_attempts_total: {
    kind: "counter",
    labels: ["destination", "outcome"],
    help: "Attempts to deliver, by kind of destination: accepted or failed.",
  },
  formbridge_delivery_duration_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["destination"],
    buckets: SECONDS,
    help: "Time of an attempt to deliver.",
  },
  formbridge_delivery_dead_total: {
    kind: "counter",
    labels: ["intake_id"],
    help: "Deliveries that were given up after the last attempt.",
  },
  formbridge_webhook_attempts_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Batches of events sent to webhooks: accepted or failed.",
  },
  formbridge_webhook_duration_seconds: {
    kind: "histogram",
    unit: "s",
    buckets: SECONDS,
    help: "Time of sending a batch of events to a webhook.",
  },
  formbridge_webhook_lag_seconds: {
    kind: "gauge",
    unit: "s",
    labels: ["webhook_id"],
    help: "Age of the newest event in the last batch when it was sent: how far behind the webhook is.",
  },
  formbridge_notices_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Notices by mail or to the operator's webhook: sent, failed or given_up.",
  },
  formbridge_jobs_lag_seconds: {
    kind: "histogram",
    unit: "s",
    labels: ["kind"],
    buckets: SECONDS,
    help: "Time from when a job was due until a worker claimed it.",
  },
  formbridge_jobs_depth: { kind: "gauge", help: "Jobs that wait, due or not. At most 10,000 are counted." },
  formbridge_uploads_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Uploads: requested, completed, rejected or abandoned.",
  },
  formbridge_upload_bytes_total: { kind: "counter", unit: "By", help: "Bytes of uploads that were completed." },
  formbridge_incidents_total: { kind: "counter", labels: ["kind"], help: "Alarms that tripped, by kind." },
  formbridge_alarm_signals_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Signals for alarms: counted, or dropped because a flood left no room in memory.",
  },
  formbridge_audit_notes_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Audit notes of reads and refusals: written, retried or lost.",
  },
  formbridge_swept_total: {
    kind: "counter",
    labels: ["what"],
    help: "What clean-up did: expired, warned, erased, removed, tokens, records, handoffs, uploads, links.",
  },
  formbridge_clock_skew_seconds: {
    kind: "gauge",
    unit: "s",
    labels: ["backend"],
    help: "The store's clock minus that of this process.",
  },
  formbridge_store_up: {
    kind: "gauge",
    labels: ["backend"],
    help: "1 if the store responded to the last health check, every FORMBRIDGE_METRICS_LOOK_MS.",
  },
  formbridge_build_info: {
    kind: "gauge",
    labels: ["version", "role"],
    help: "1, with the version and what the process does: serve, worker, mcp or embedded.",
  },
  formbridge_process_cpu_seconds_total: { kind: "counter", unit: "s", help: "Processor time, user and system." },
  formbridge_process_resident_memory_bytes: { kind: "gauge", unit: "By", help: "Resident memory." },
  formbridge_process_heap_bytes: { kind: "gauge", unit: "By", help: "JavaScript heap in use." },
  formbridge_process_event_loop_lag_seconds: {
    kind: "gauge",
    unit: "s",
    labels: ["quantile"],
    help: "Delay of the event loop since the last scrape: quantiles 0.5, 0.99 and 1.",
  },
  formbridge_process_start_time_seconds: { kind: "gauge", unit: "s", help: "Unix time of the start." },
} as const satisfies Record<string, MetricSpec>;

export const METRICS = {
  ...TOKEN_METRICS,
  ...STORE_METRICS,
  ...BUSINESS_METRICS,
  ...IDEMPOTENCY_METRICS,
  ...SERVICE_METRICS,
} as const satisfies Record<string, MetricSpec>;

export type MetricName = keyof typeof METRICS;
