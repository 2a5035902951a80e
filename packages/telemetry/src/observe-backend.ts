import { type Backend, CallRefused, type LoadQuery, StoreDown } from "@formbridge/core";
import { createRatioWindow, type RatioWindow } from "./metrics/ratio-window.ts";
import type { Metrics } from "./metrics/registry.ts";
import type { SizeKeeper } from "./metrics/sizes.ts";

export interface ObserveOptions {
  metrics: Metrics;
  /** The names of the backends in labels. */
  backends: { database: string; idempotency: string };
  sizes: SizeKeeper;
  /** Called for a call that took longer than `SLOW_MS`, and for one that failed. */
  onStorage?: (note: StorageNote) => void;
}

export interface StorageNote {
  operation: StorageOperation;
  backend: string;
  ms: number;
  error?: unknown;
}

type StorageOperation = "store" | "retrieve" | "acquireLock" | "releaseLock";

const A_MINUTE = 60_000;
/** A storage operation that takes longer is worth a line in the log. */
export const SLOW_MS = 500;

const errorType = (error: unknown): string => {
  if (error instanceof CallRefused) return "refused";
  return error instanceof StoreDown ? "unavailable" : "other";
};

/** The same backend; every call for a token or a key is timed. */
export function observeBackend(backend: Backend, options: ObserveOptions): Backend {
  const { metrics, backends, sizes, onStorage } = options;
  const { database } = backends;
  const windows = new Map<string, { operation: string; backend: string; window: RatioWindow }>();

  metrics.onCollect(() => {
    for (const { operation, backend: by, window } of windows.values())
      metrics.set("formbridge_idempotency_storage_error_rate", window.ratio(), operation, by);
  });

  function stored(operation: StorageOperation, by: string, { ms, error }: { ms: number; error?: unknown }): void {
    const failed = error !== undefined;
    metrics.count("formbridge_idempotency_storage_operation_total", 1, operation, failed ? "error" : "success", by);
    metrics.observe("formbridge_idempotency_storage_operation_duration_ms", ms, operation, by);
    const name = `${operation} ${by}`;
    const known = windows.get(name) ?? { operation, backend: by, window: createRatioWindow(A_MINUTE, Date.now) };
    windows.set(name, known);
    known.window.add(failed);
    const isSlow = ms > SLOW_MS && operation !== "acquireLock";
    if (failed || isSlow) onStorage?.({ operation, backend: by, ms, ...(failed && { error }) });
  }

  function tokenError(operation: "get" | "set" | "delete", error: unknown): void {
    metrics.count("formbridge_token_store_error_count_total", 1, operation, errorType(error));
    metrics.count("formbridge_token_storage_error_total", 1, database);
  }

  async function load(query: LoadQuery) {
    const began = performance.now();
    try {
      const loaded = await backend.store.load(query);
      const ms = performance.now() - began;
      metrics.observe("formbridge_token_store_get_duration_seconds", ms / 1000, database);
      if (query.key !== undefined) stored("retrieve", database, { ms });
      return loaded;
    } catch (error) {
      tokenError("get", error);
      if (query.key !== undefined) stored("retrieve", database, { ms: performance.now() - began, error });
      throw error;
    }
  }

  const commit: Backend["store"]["commit"] = async (change) => {
    const began = performance.now();
    try {
      const committed = await backend.store.commit(change);
      const ms = performance.now() - began;
      metrics.observe("formbridge_token_store_set_duration_seconds", ms / 1000, database);
      if (change.key !== undefined) stored("store", database, { ms });
      if (committed.kind === "committed" && change.token !== undefined) sizes.tokensChanged(1);
      return committed;
    } catch (error) {
      tokenError("set", error);
      if (change.key !== undefined) stored("store", database, { ms: performance.now() - began, error });
      throw error;
    }
  };

  const enter: Backend["idempotency"]["enter"] = async (key, limits) => {
    const began = performance.now();
    const by = backends.idempotency;
    try {
      const leave = await backend.idempotency.enter(key, limits);
      stored("acquireLock", by, { ms: performance.now() - began });
      if (leave === undefined) return undefined;
      return () => {
        const leaving = performance.now();
        leave();
        stored("releaseLock", by, { ms: performance.now() - leaving });
      };
    } catch (error) {
      stored("acquireLock", by, { ms: performance.now() - began, error });
      throw error;
    }
  };

  return {
    ...backend,
    store: { load, commit },
    tokens: {
      ...backend.tokens,
      async forgetExpired(before, limit) {
        const began = performance.now();
        try {
          const forgotten = await backend.tokens.forgetExpired(before, limit);
          sizes.tokensChanged(-forgotten);
          return forgotten;
        } catch (error) {
          tokenError("delete", error);
          throw error;
        } finally {
          const seconds = (performance.now() - began) / 1000;
          metrics.observe("formbridge_token_store_delete_duration_seconds", seconds, database);
        }
      },
    },
    idempotency: { ...backend.idempotency, enter },
    jobs: {
      ...backend.jobs,
      async claim(claim) {
        const claimed = await backend.jobs.claim(claim);
        for (const { kind, leasedUntil, runAt } of claimed) {
          const lagMs = Math.max(0, leasedUntil - claim.leaseMs - runAt);
          metrics.observe("formbridge_jobs_lag_seconds", lagMs / 1000, kind);
        }
        return claimed;
      },
    },
  };
}
