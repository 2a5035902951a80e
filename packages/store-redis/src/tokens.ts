import type { Health, TokenIndex, TokenRow } from "@formbridge/core";
import type { Redis } from "./redis.ts";
import type { TokenCache } from "./token-cache.ts";

/** What a lookup does if Redis doesn't respond: `redis` refuses, `hybrid` asks the database. */
export type TokenMode = "redis" | "hybrid";

/** Looks in Redis as the mode says. Undefined: ask the database. */
export type FindInRedis = (hash: string) => Promise<TokenRow | undefined>;

export function findInRedis(cache: TokenCache, mode: TokenMode): FindInRedis {
  return mode === "redis" ? cache.find : (hash) => cache.find(hash).catch(() => undefined);
}

/** Finds a token by hash in Redis, or in the database if Redis doesn't have it. Lists come from the database. */
export function createTokenIndex(parts: {
  redis: Redis;
  cache: TokenCache;
  mode: TokenMode;
  truth: TokenIndex;
}): TokenIndex {
  const { redis, cache, mode, truth } = parts;
  const hot = findInRedis(cache, mode);
  return {
    ...truth,
    async find(hash) {
      const known = await hot(hash);
      if (known !== undefined) return known;
      const row = await truth.find(hash);
      if (row !== undefined) void cache.remember(row).catch(() => {});
      return row;
    },
    health: mode === "redis" ? redis.health : () => hybridHealth(redis, truth),
  };
}

async function hybridHealth(redis: Redis, truth: TokenIndex): Promise<Health> {
  const [hot, cold] = await Promise.all([redis.health(), truth.health()]);
  return hot.healthy ? cold : { ...cold, detail: cold.detail ?? "Redis does not respond: using the database instead" };
}
