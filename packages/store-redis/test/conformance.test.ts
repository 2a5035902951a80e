import {
  describeAlarmWindows,
  describeAtomicity,
  describeDurability,
  describeIdempotency,
  describeRateLimiter,
  describeRetention,
  describeStore,
  describeTokens,
  describeWakeups,
} from "@formbridge/conformance";
import type { Wakeups } from "@formbridge/core";
import { createLocalWakeups, createMemoryAlarmWindows, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createRedisAlarmWindows, createRedisRateLimiter, createRedisWakeups } from "@formbridge/store-redis";
import { afterAll, describe } from "vitest";
import { redisClusterUrl, redisUrl } from "../../../test/support/services/redis.ts";
import { connect, openOn } from "./open.ts";

const single = await redisUrl();
const cluster = await redisClusterUrl();

describe.each([
  ["redis, one server", single, { tokens: "redis", idempotency: "redis" }],
  ["redis, a cluster of three masters", cluster, { tokens: "redis", idempotency: "redis" }],
  ["hybrid", single, { tokens: "hybrid", idempotency: "sql" }],
] as const)("%s", (_, url, choice) => {
  const open = openOn(url, choice);
  describeStore(open);
  describeTokens(open);
  describeIdempotency(open);
  describeRetention(open);
  describeDurability(open);
  describeAtomicity(open);
});

describe.each([
  ["one server", single],
  ["a cluster", cluster],
])("%s", async (_, url) => {
  let now = () => 0;
  const redis = await connect(url, { clock: () => now() });
  afterAll(redis.close);
  const dead = await connect("redis://127.0.0.1:9", { timeoutMs: 20 });
  afterAll(dead.close);
  let made = 0;

  describeAlarmWindows(() => {
    made += 1;
    const counter = { ...redis, key: (kind: string, tag: string) => redis.key(`${kind}${made}`, tag) };
    const own = createRedisAlarmWindows(dead, createMemoryAlarmWindows());
    return [createRedisAlarmWindows(counter, own), createRedisAlarmWindows(counter, own)];
  });
  describeRateLimiter((clock) => {
    now = clock;
    made += 1;
    // Each test starts counting from zero.
    const counter = { ...redis, key: (kind: string, tag: string) => redis.key(`${kind}${made}`, tag) };
    return createRedisRateLimiter(counter, createRedisRateLimiter(dead, createMemoryRateLimiter({ now: clock })));
  });
  describeWakeups((): Wakeups => createRedisWakeups(createLocalWakeups(), redis));
});
