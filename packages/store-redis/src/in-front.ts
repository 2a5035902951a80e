import { type Backend, type Instrumentation, type Sealer, silent } from "@formbridge/core";
import { createIdempotency } from "./idempotency.ts";
import { createLocks, type LockOptions } from "./lock.ts";
import type { Redis } from "./redis.ts";
import { createStore } from "./store.ts";
import { createTokenCache } from "./token-cache.ts";
import { createTokenIndex, type TokenMode } from "./tokens.ts";

export interface InFrontOptions {
  redis: Redis;
  sealer: Sealer;
  /** `sql`: don't use Redis for this. */
  tokens: TokenMode | "sql";
  idempotency: "redis" | "sql";
  lock: LockOptions;
  instrumentation?: Instrumentation;
}

/**
 * The same backend with Redis in front of its token index and idempotency, as configured. Closing Redis is up to the
 * caller.
 */
export function putRedisInFront(truth: Backend, options: InFrontOptions): Backend {
  const { redis, sealer, tokens: mode, idempotency, lock, instrumentation: { record } = silent } = options;
  const onAbandoned = (ageMs: number): void => record({ name: "lock_abandoned", backend: "redis", ageMs });
  const locks = idempotency === "redis" ? createLocks(redis, { ...lock, onAbandoned }) : undefined;
  const onLookup = (hit: boolean): void => record({ name: "token_cache", hit });
  const cache = createTokenCache(redis, sealer);
  const tokens = mode === "sql" ? undefined : { cache, mode, truth: truth.tokens, onLookup };
  const store = createStore({ truth: truth.store, ...(tokens && { tokens }) });
  return {
    ...truth,
    store,
    tokens: tokens ? createTokenIndex({ redis, ...tokens }) : truth.tokens,
    idempotency: locks ? createIdempotency({ redis, locks, truth: truth.idempotency }) : truth.idempotency,
    async close() {
      await store.close();
      await truth.close();
      locks?.close();
    },
  };
}
