/** For each alert, series that make it fire and a near miss that does not. Values are Prometheus' notation: `0+10x60` grows by 10, 60 times. */
export interface Case {
  /** Series and their values, one for each step. */
  series: Record<string, string>;
  at: string;
}
export interface AlertCases {
  fires: Case;
  quiet: Case;
  /** The time between two values, and between two evaluations of the rules: a minute, except for windows of hours and days. */
  step?: "5m" | "1h" | "6h";
}

const at = (time: string, series: Record<string, string>): Case => ({ series, at: time });
const one = (name: string, time: string, [fires, quiet]: [string, string]): AlertCases => ({
  fires: at(time, { [name]: fires }),
  quiet: at(time, { [name]: quiet }),
});

const ACCESSED = "formbridge_token_accessed_count_total";
const BUCKET = "formbridge_token_accessed_duration_seconds_bucket";
const COUNT = "formbridge_token_accessed_duration_seconds_count";
const STORAGE = "formbridge_idempotency_storage_operation_total";
const STORAGE_MS = "formbridge_idempotency_storage_operation_duration_ms_bucket";
const OPERATIONS = "formbridge_operation_duration_seconds_count";
const REQUESTS = "formbridge_idempotency_request_total";

export const CASES: Record<string, AlertCases> = {
  TokenStorageBackendDown: one('formbridge_store_up{backend="postgres"}', "3m", ["1 0 0 0 0", "1 0 1 0 1"]),
  TokenStoreNearCapacity: {
    fires: at("30m", { formbridge_token_store_size: "81x40", formbridge_token_store_max_size: "100x40" }),
    quiet: at("30m", { formbridge_token_store_size: "79x40", formbridge_token_store_max_size: "100x40" }),
  },
  ClockSkew: one('formbridge_clock_skew_seconds{backend="postgres"}', "5m", ["-6x10", "-4x10"]),
  AuditNotesLost: {
    fires: at("5m", { 'formbridge_audit_notes_total{outcome="lost"}': "_ _ 1 1 1 1" }),
    quiet: at("5m", { 'formbridge_audit_notes_total{outcome="retried"}': "0 0 1 1 1 1" }),
  },
  TokenValidationHighLatency: {
    fires: at("15m", {
      [`${BUCKET}{le="1"}`]: "0+97x20",
      [`${BUCKET}{le="2.5"}`]: "0+100x20",
      [`${BUCKET}{le="+Inf"}`]: "0+100x20",
    }),
    quiet: at("15m", {
      [`${BUCKET}{le="1"}`]: "0+100x20",
      [`${BUCKET}{le="2.5"}`]: "0+100x20",
      [`${BUCKET}{le="+Inf"}`]: "0+100x20",
    }),
  },
  HighTokenConflictRate: {
    fires: at("20m", {
      formbridge_token_conflict_count_total: "0+6x30",
      [`${ACCESSED}{operation="patch"}`]: "0+100x30",
    }),
    quiet: at("20m", {
      formbridge_token_conflict_count_total: "0+4x30",
      [`${ACCESSED}{operation="patch"}`]: "0+100x30",
    }),
  },
  HighTokenCreationRate: one("formbridge_token_created_count_total", "20m", ["0+6600x30", "0+5400x30"]),
  TokenCreationsUnusual: one("formbridge_token_created_count_total", "60m", ["0+18x70", "0+15x70"]),
  TokensExpireUnused: {
    step: "1h",
    fires: at("26h", {
      'formbridge_token_expired_count_total{reason="ttl"}': "0+6x30",
      formbridge_token_created_count_total: "0+10x30",
    }),
    quiet: at("26h", {
      'formbridge_token_expired_count_total{reason="ttl"}': "0+4x30",
      formbridge_token_created_count_total: "0+10x30",
    }),
  },
  IdempotencyStorageUnavailable: {
    fires: at("10m", { [`${STORAGE}{status="error"}`]: "0+6x20", [`${STORAGE}{status="success"}`]: "0+94x20" }),
    quiet: at("10m", { [`${STORAGE}{status="error"}`]: "0+4x20", [`${STORAGE}{status="success"}`]: "0+96x20" }),
  },
  IdempotencyCircuitBreakerOpen: one('formbridge_idempotency_circuit_breaker_state{backend="redis"}', "2m", [
    "1x5",
    "2x5",
  ]),
  IdempotencyLockTimeouts: one("formbridge_idempotency_lock_timeout_total", "10m", ["0+3x20", "0+1x20"]),
  IdempotencyConflictStorm: one("formbridge_idempotency_conflict_total", "5m", ["0+8x10", "0+4x10"]),
  IdempotencyReplayShareHigh: {
    fires: at("20m", { [`${REQUESTS}{replayed="true"}`]: "0+35x30", [`${REQUESTS}{replayed="false"}`]: "0+65x30" }),
    quiet: at("20m", { [`${REQUESTS}{replayed="true"}`]: "0+25x30", [`${REQUESTS}{replayed="false"}`]: "0+75x30" }),
  },
  IdempotencyStorageSlow: {
    fires: at("15m", {
      [`${STORAGE_MS}{operation="store",le="500"}`]: "0+97x20",
      [`${STORAGE_MS}{operation="store",le="1000"}`]: "0+100x20",
      [`${STORAGE_MS}{operation="store",le="+Inf"}`]: "0+100x20",
    }),
    // Waiting for another holder is not the storage's fault.
    quiet: at("15m", {
      [`${STORAGE_MS}{operation="acquireLock",le="500"}`]: "0+50x20",
      [`${STORAGE_MS}{operation="acquireLock",le="1000"}`]: "0+100x20",
      [`${STORAGE_MS}{operation="acquireLock",le="+Inf"}`]: "0+100x20",
    }),
  },
  IdempotencyPoolExhausted: one(
    'formbridge_idempotency_storage_connection_pool_exhausted_total{backend="postgres"}',
    "90m",
    ["0x70 1x30", "5x100"],
  ),
  IdempotencyLocksAbandoned: one("formbridge_idempotency_lock_abandoned_total", "8m", ["0x4 3x10", "0x20"]),
  IdempotencyLockHeldLong: one("formbridge_idempotency_lock_age_seconds", "2m", ["26x5", "24x5"]),
  DeliveryDead: one('formbridge_delivery_dead_total{intake_id="note"}', "30m", ["_x20 1x20", "7x60"]),

  ...burning("TokenValidation", 0.001, (share) => ({
    [`${ACCESSED}{outcome="error"}`]: share,
    [`${ACCESSED}{outcome="success"}`]: 1 - share,
  })),
  ...burning("TokenValidationLatency", 0.01, (share) => ({ [`${BUCKET}{le="0.5"}`]: 1 - share, [COUNT]: 1 })),
  ...burning("Operations", 0.005, (share) => ({
    [`${OPERATIONS}{outcome="error"}`]: share,
    [`${OPERATIONS}{outcome="success"}`]: 1 - share,
  })),
  ...burning("Conflicts", 0.05, (share) => ({
    formbridge_token_conflict_count_total: share,
    [`${ACCESSED}{operation="patch"}`]: 1,
  })),

  // The store is up or down, so a share of time is one gap: 65 seconds of an hour, 130 seconds of six hours.
  SloStorageAvailabilityBurnsFast: one('formbridge_store_up{backend="sqlite"}', "65m", ["1x57 0x10", "1x60 0 1x10"]),
  SloStorageAvailabilityBurnsSlowly: {
    ...one('formbridge_store_up{backend="sqlite"}', "6h", ["1x66 0x10", "1x50 0 1x30"]),
    step: "5m",
  },
  SloStorageAvailabilityBudgetNearlySpent: {
    step: "6h",
    fires: at("744h", { 'formbridge_store_up{backend="sqlite"}': "1x110 0 1x20" }),
    // Redis is optional: without it everything continues.
    quiet: at("744h", {
      'formbridge_store_up{backend="redis"}': "0x130",
      'formbridge_store_up{backend="sqlite"}': "1x130",
    }),
  },
};

/**
 * The three alerts of an objective over seven days, which fire at 5 % of the budget in an hour, 10 % in six hours, and
 * 80 % in all; each with a near miss.
 */
function burning(
  name: string,
  budget: number,
  seriesOf: (badShare: number) => Record<string, number>,
): Record<string, AlertCases> {
  const growing = (share: number, times: number): Record<string, string> =>
    Object.fromEntries(
      Object.entries(seriesOf(share)).map(([series, part]) => [series, `0+${Math.round(part * 100_000)}x${times}`]),
    );
  const both = (time: string, times: number, limit: number): AlertCases => ({
    fires: at(time, growing(limit * 1.1, times)),
    quiet: at(time, growing(limit * 0.9, times)),
  });
  return {
    [`Slo${name}BurnsFast`]: both("70m", 80, (0.05 * budget * 168) / 1),
    [`Slo${name}BurnsSlowly`]: { ...both("400m", 82, (0.1 * budget * 168) / 6), step: "5m" },
    [`Slo${name}BudgetNearlySpent`]: { ...both("180h", 31, 0.8 * budget), step: "6h" },
  };
}
