import type { Backend, Health } from "@formbridge/core";
import type { Metrics } from "./registry.ts";
import type { SizeKeeper } from "./sizes.ts";

export interface StoreGaugeOptions {
  metrics: Metrics;
  sizes: SizeKeeper;
  backend: Backend;
  /** The stores by the names that labels use. */
  health(): Promise<Record<string, Health>>;
  database: string;
  /** What the token store was sized for. */
  maxTokens: number;
  /** Bytes that Redis uses, where tokens are in Redis. */
  redisMemory?: () => Promise<number>;
  everyMs: number;
  onSkew(backend: string, skewMs: number): void;
}

/** A clock that is further off makes deadlines and locks unreliable. */
const MAX_SKEW_MS = 5_000;

/** Samples the stores periodically: nothing here is called by a request or a scrape. Returns how to stop. */
export function watchStores(options: StoreGaugeOptions): () => void {
  const { metrics, sizes, backend, database, redisMemory, everyMs } = options;
  metrics.set("formbridge_token_store_max_size", options.maxTokens);
  const skewed = new Set<string>();

  function noteHealth(name: string, { healthy, clockSkewMs }: Health): void {
    metrics.set("formbridge_store_up", healthy ? 1 : 0, name);
    if (clockSkewMs === undefined) return;
    metrics.set("formbridge_clock_skew_seconds", clockSkewMs / 1000, name);
    const isSkewed = Math.abs(clockSkewMs) > MAX_SKEW_MS;
    if (isSkewed && !skewed.has(name)) options.onSkew(name, clockSkewMs);
    if (isSkewed) skewed.add(name);
    else skewed.delete(name);
  }

  /** The parts are independent: one that fails is sampled again next time. */
  async function look(): Promise<void> {
    await Promise.allSettled([
      options.health().then((stores) => {
        for (const [name, health] of Object.entries(stores)) noteHealth(name, health);
      }),
      sizes.refresh(backend),
      backend.jobsWaiting().then((jobs) => metrics.set("formbridge_jobs_depth", jobs)),
      redisMemory?.().then((bytes) => metrics.set("formbridge_token_store_memory_usage_bytes", bytes, "redis")),
    ]);
  }

  metrics.onCollect(() => {
    const connections = backend.connectionsInUse();
    metrics.set("formbridge_idempotency_storage_connection_pool_active", connections, database);
    if (redisMemory === undefined)
      metrics.set("formbridge_token_store_memory_usage_bytes", process.memoryUsage().heapUsed, database);
    const held = sizes.current();
    if (held === undefined) return;
    metrics.set("formbridge_token_store_size", held.tokens, database);
    const records = new Map<string, number>();
    for (const [intakeId, count] of Object.entries(held.records)) {
      const name = metrics.shownAs("intake_id", intakeId);
      records.set(name, (records.get(name) ?? 0) + count);
    }
    for (const [name, count] of records) metrics.set("formbridge_idempotency_key_active_count", count, name);
  });
  let looking = look();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
