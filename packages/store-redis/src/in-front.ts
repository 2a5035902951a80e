import type { Backend, Sealer } from "@formbridge/core";
import { createIdempotency } from "./idempotency.ts";
import { createLocks, type LockOptions } from "./lock.ts";
import { createRecordCache } from "./records.ts";
import type { Redis } from "./redis.ts";
import { createStore } from "./store.ts";
import { createTokenCache } from "./token-cache.ts";
import { createTokenIndex, type TokenMode } from "./tokens.ts";

export interface InFrontOptions {
  redis: Redis;
  sealer: Sealer;
  /** `sql`: as if Redis were not there. */
  tokens: TokenMode | "sql";
  idempotency: "redis" | "sql";
  lock: LockOptions;
}

/** The same backend, with Redis in front of its token index and its idempotency, as chosen. Redis stays the caller's to close. */
export function putRedisInFront(truth: Backend, options: InFrontOptions): Backend {
  const { redis, sealer, tokens: mode, idempotency, lock } = options;
  const locks = idempotency === "redis" ? createLocks(redis, lock) : undefined;
  const records = locks && createRecordCache(redis, sealer);
  const tokens = mode === "sql" ? undefined : { cache: createTokenCache(redis, sealer), mode, truth: truth.tokens };
  const store = createStore({
    truth: truth.store,
    ...(records && { records: { cache: records, truth: truth.idempotency } }),
    ...(tokens && { tokens }),
  });
  return {
    ...truth,
    store,
    tokens: tokens ? createTokenIndex({ redis, ...tokens }) : truth.tokens,
    idempotency:
      locks && records ? createIdempotency({ redis, locks, records, truth: truth.idempotency }) : truth.idempotency,
    async close() {
      await store.close();
      await truth.close();
      locks?.close();
    },
  };
}
