export { parseRedisUrl, REDIS_URLS, type RedisAddress } from "./address.ts";
export { createRedisAlarmWindows } from "./alarm-windows.ts";
export { type InFrontOptions, putRedisInFront } from "./in-front.ts";
export { createRedisRateLimiter } from "./rate-limiter.ts";
export { openRedis, type Redis, type RedisOptions } from "./redis.ts";
export type { TokenMode } from "./tokens.ts";
export { createRedisWakeups, type RedisWakeups } from "./wakeups.ts";
