import { type AlarmWindows, sha256 } from "@formbridge/core";
import type { Redis } from "./redis.ts";
import { script } from "./script.ts";

/** A window is a sorted set of members by the time they were last seen. ARGV: member, at, window, at most. */
const ADD = script(`
local at, window, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZADD', KEYS[1], 'GT', at, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at - window)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - most)
redis.call('PEXPIRE', KEYS[1], window)
return redis.call('ZCARD', KEYS[1])`);

/** Windows that all processes share. Without Redis, `own` counts. */
export function createRedisAlarmWindows(redis: Redis, own: AlarmWindows): AlarmWindows {
  return {
    async add(marks) {
      const run = ({ window, member, at, windowMs, atMost }: (typeof marks)[number]) =>
        redis.run(ADD, [redis.key("alarm", sha256(window))], [member, at, windowMs, atMost]);
      try {
        // All are added before any is counted, as the last mark of a window counts.
        const counts = (await Promise.all(marks.map(run))) as number[];
        const last = new Map(marks.map(({ window }, index) => [window, counts[index] ?? 0]));
        return marks.map(({ window }) => last.get(window) ?? 0);
      } catch {
        return own.add(marks);
      }
    },
  };
}
