import { type RateLimiter, type RateRule, type RateVerdict, sha256 } from "@formbridge/core";
import type { Redis } from "./redis.ts";
import { NOW, script } from "./script.ts";

/**
 * Counts ARGV[3] hits (0 only reads) in a window that starts with its first hit. Returns the hits and the time left.
 */
const COUNT = script(`${NOW}
local window = tonumber(ARGV[2])
local ends = tonumber(redis.call('HGET', KEYS[1], 'ends'))
local running = ends and ends > now
if ARGV[3] == '0' then
  if not running then return {0, window} end
  return {tonumber(redis.call('HGET', KEYS[1], 'hits')), ends - now}
end
if not running then
  ends = now + window
  redis.call('HSET', KEYS[1], 'ends', ends, 'hits', 0)
  redis.call('PEXPIRE', KEYS[1], window)
end
return {redis.call('HINCRBY', KEYS[1], 'hits', ARGV[3]), ends - now}`);

/** Fixed windows, one per rule and subject, shared by all processes. Without Redis each process counts for itself. */
export function createRedisRateLimiter(redis: Redis, own: RateLimiter): RateLimiter {
  async function count(rule: RateRule, subject: string, hits: number): Promise<{ hits: number; resetMs: number }> {
    const key = redis.key("rate", sha256(JSON.stringify([rule.name, subject])));
    const answer = await redis.run(COUNT, [key], [redis.now(), rule.windowMs, hits]);
    const [counted, resetMs] = answer as [number, number];
    return { hits: counted, resetMs };
  }

  return {
    async hit(rule, subject, weight = 1): Promise<RateVerdict> {
      try {
        const { hits, resetMs } = await count(rule, subject, weight);
        return { rule, allowed: hits <= rule.limit, remaining: Math.max(0, rule.limit - hits), resetMs };
      } catch {
        return own.hit(rule, subject, weight);
      }
    },
    async peek(rule, subject): Promise<RateVerdict> {
      try {
        const { hits, resetMs } = await count(rule, subject, 0);
        const remaining = Math.max(0, rule.limit - hits);
        return { rule, allowed: remaining > 0, remaining, resetMs };
      } catch {
        return own.peek(rule, subject);
      }
    },
  };
}
