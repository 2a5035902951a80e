import { createLocalWakeups, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createRedisRateLimiter, createRedisWakeups, type Redis } from "@formbridge/store-redis";
import { afterAll, describe, expect, it, vi } from "vitest";
import { newPrefix, redisClusterUrl, redisUrl } from "../../../test/support/services/redis.ts";
import { asOperator, connect } from "./open.ts";

const single = await redisUrl();
const opened: Redis[] = [];
afterAll(() => {
  for (const redis of opened) redis.close();
});

/** Two processes sharing one Redis. */
async function pair(url: string): Promise<[Redis, Redis]> {
  const prefix = newPrefix();
  const both = await Promise.all([connect(url, { prefix }), connect(url, { prefix })]);
  opened.push(...both);
  return both;
}

describe.each([
  ["one server", single],
  ["a cluster", await redisClusterUrl()],
])("through %s", (_, url) => {
  it("[RUNNING-REDIS-LIMITS] hits are counted together, whichever process they came to", async () => {
    const rule = { name: "creates", limit: 10, windowMs: 60_000 };
    const limiters = (await pair(url)).map((redis) =>
      createRedisRateLimiter(redis, createMemoryRateLimiter({ now: () => 0 })),
    );
    const hits = await Promise.all(Array.from({ length: 24 }, (_unused, hit) => limiters[hit % 2]?.hit(rule, "a")));
    expect(hits.filter((verdict) => verdict?.allowed)).toHaveLength(10);
    expect(await limiters[1]?.peek(rule, "a")).toMatchObject({ allowed: false, remaining: 0 });
    expect((await limiters[0]?.peek(rule, "a"))?.resetMs).toBeLessThanOrEqual(60_000);
  });

  it("[RUNNING-REDIS-FAN-OUT] a reader is woken by a write in another process", async () => {
    const [here, there] = (await pair(url)).map((redis) => createRedisWakeups(createLocalWakeups(), redis));
    const wake = vi.fn();
    const others = vi.fn();
    here?.subscribe("sub_1", wake);
    here?.subscribe("sub_2", others);
    // Until both connections are up, messages may be lost.
    await vi.waitFor(() => {
      there?.notify("sub_1");
      expect(wake).toHaveBeenCalled();
    }, 5_000);
    // At most once: when the connection came up.
    expect(others.mock.calls.length).toBeLessThanOrEqual(1);
  });
});

it("everybody is woken when the connection is back, for what was written meanwhile", async () => {
  const [redis] = await pair(single);
  const wakeups = createRedisWakeups(createLocalWakeups(), redis);
  const wake = vi.fn();
  wakeups.subscribe("sub_1", wake);
  await vi.waitFor(() => expect(wake).toHaveBeenCalled(), 5_000);
  wake.mockClear();
  await asOperator(single, "CLIENT", "KILL", "TYPE", "pubsub");
  await vi.waitFor(() => expect(wake).toHaveBeenCalled(), 5_000);
});

it("a process ignores its own messages", async () => {
  const [redis] = await pair(single);
  const said: string[] = [];
  let hear = (_message: string) => {};
  const echoing: Redis = {
    ...redis,
    publish: async (_channel, message) => void said.push(message),
    listen: (_channel, listening) => {
      hear = listening.hear;
      return () => {};
    },
  };
  const wakeups = createRedisWakeups(createLocalWakeups(), echoing);
  const wake = vi.fn();
  wakeups.subscribe("sub_1", wake);
  wakeups.notify("sub_1");
  wakeups.notify("sub_2");
  await wakeups.close();
  expect(said).toHaveLength(1);
  hear(said[0] ?? "");
  expect(wake).toHaveBeenCalledTimes(1);
  hear("another sub_3 sub_1");
  expect(wake).toHaveBeenCalledTimes(2);
});

it("without Redis each process counts for itself", async () => {
  const dead = await connect("redis://127.0.0.1:9", { timeoutMs: 20 });
  opened.push(dead);
  const rule = { name: "creates", limit: 2, windowMs: 60_000 };
  const limiter = createRedisRateLimiter(dead, createMemoryRateLimiter({ now: () => 0 }));
  const allowed = [];
  for (let hit = 0; hit < 3; hit += 1) allowed.push((await limiter.hit(rule, "a")).allowed);
  expect(allowed).toEqual([true, true, false]);
});
