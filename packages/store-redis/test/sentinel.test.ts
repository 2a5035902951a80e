import {
  describeAlarmWindows,
  describeIdempotency,
  describeRateLimiter,
  describeTokens,
  describeWakeups,
  fixtures,
} from "@formbridge/conformance";
import { type Change, StoreDown } from "@formbridge/core";
import {
  createLocalWakeups,
  createMemoryAlarmWindows,
  createMemoryBackend,
  createMemoryRateLimiter,
} from "@formbridge/store-memory";
import { createRedisAlarmWindows, createRedisRateLimiter, createRedisWakeups } from "@formbridge/store-redis";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ownSentinels } from "../../../test/support/services/own-sentinels.ts";
import { newPrefix } from "../../../test/support/services/redis.ts";
import { connect, eventually, inFrontOf, openOn } from "./open.ts";

const { creation, newHash, update } = fixtures;
const LIMITS = { timeoutMs: 1_000, maxWaiters: 1 };
const RATE = { name: "calls", limit: 2, windowMs: 3_600_000 };

const own = await ownSentinels({ downAfterMs: 1_000 });
afterAll(own.remove);

describe("through sentinels", async () => {
  let now = () => 0;
  const redis = await connect(own.url, { clock: () => now() });
  afterAll(redis.close);
  let made = 0;
  /** Each test starts counting from zero. */
  function counter() {
    made += 1;
    const own = made;
    return { ...redis, key: (kind: string, tag: string) => redis.key(`${kind}${own}`, tag) };
  }
  const open = openOn(own.url, { tokens: "redis", idempotency: "redis" });
  describeTokens(open);
  describeIdempotency(open);
  describeAlarmWindows(() => {
    const counting = counter();
    const windows = () => createRedisAlarmWindows(counting, createMemoryAlarmWindows());
    return [windows(), windows()];
  });
  describeRateLimiter((clock) => {
    now = clock;
    return createRedisRateLimiter(counter(), createMemoryRateLimiter({ now: clock }));
  });
  describeWakeups(() => createRedisWakeups(createLocalWakeups(), redis));
});

/** Two instances on one database. */
async function scene() {
  const prefix = newPrefix();
  const truth = createMemoryBackend({ now: () => 0 });
  const open = async () => {
    const redis = await connect(own.url, { prefix });
    onTestFinished(redis.close);
    const limiter = createRedisRateLimiter(redis, createMemoryRateLimiter({ now: () => 0 }));
    const wakeups = createRedisWakeups(createLocalWakeups(), redis);
    const strict = inFrontOf(truth, redis, { tokens: "redis", idempotency: "redis" });
    const hybrid = inFrontOf(truth, redis, { tokens: "hybrid", idempotency: "sql" });
    return { redis, limiter, wakeups, strict, hybrid };
  };
  return [await open(), await open()] as const;
}
type Instance = Awaited<ReturnType<typeof scene>>[number];

/** What one instance does in Redis is known to the other. */
async function expectShared(one: Instance, other: Instance): Promise<void> {
  const key = { operation: "create", hash: newHash(), tenant: "acme", intakeId: "contact" } as const;
  const release = await one.strict.idempotency.enter(key, LIMITS);
  expect(release).toBeTypeOf("function");
  expect(await other.strict.idempotency.enter(key, { ...LIMITS, timeoutMs: 50 })).toBeUndefined();
  release?.();
  const caller = newHash();
  for (let call = 0; call < RATE.limit; call += 1) await one.limiter.hit(RATE, caller);
  expect(await other.limiter.peek(RATE, caller)).toMatchObject({ allowed: false });
  const woken = vi.fn();
  onTestFinished(other.wakeups.subscribe("submission", woken));
  await eventually(async () => {
    one.wakeups.notify("submission");
    return woken.mock.calls.length > 0 || undefined;
  });
}

const hashOf = (change: Change): string => change.token?.hash ?? "";
const works = ({ strict }: Instance, token: string) =>
  eventually(() => strict.tokens.find(token).catch(() => undefined), 30_000);

/** Until the replica is promoted, what needs Redis is refused at once, and everything else continues. */
async function expectOnlyDatabase({ strict, hybrid, redis }: Instance, change: Change): Promise<void> {
  const began = performance.now();
  const refused = await strict.tokens.find(hashOf(change)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreDown);
  expect(refused).toMatchObject({ outcome: "not_applied" });
  expect(await hybrid.tokens.find(hashOf(change))).toMatchObject({ version: 1 });
  expect(await redis.health()).toMatchObject({ healthy: false });
  expect(performance.now() - began).toBeLessThan(2_500);
}

it("[RUNNING-REDIS-SENTINEL] a primary that is killed: refusals until the replica is promoted, then all is shared again", async () => {
  const [one, other] = await scene();
  const change = creation({ at: 0 });
  await one.strict.store.commit(change);
  await expectShared(one, other);
  const lost = await own.untilRedundant();
  // Nobody is promoted while we look.
  for (const sentinel of own.sentinels) sentinel.pause();
  await lost.kill();
  await eventually(async () => ((await one.redis.health()).healthy ? undefined : true));
  await expectOnlyDatabase(one, change);
  // Redis misses this, and the next primary too.
  await one.hybrid.store.commit(update(change, 1));
  for (const sentinel of own.sentinels) sentinel.resume();

  await Promise.all([works(one, hashOf(change)), works(other, hashOf(change))]);
  await expectShared(one, other);
  await expectShared(other, one);
  const { presented } = await one.strict.store.load({ by: { token: hashOf(change) } });
  expect(presented).toMatchObject({ version: 1, rotatedAt: 1 });

  await lost.restart();
}, 90_000);

it("sentinels without a password are asked too", async () => {
  const open = await ownSentinels({ openSentinels: true });
  onTestFinished(open.remove);
  const redis = await connect(open.url);
  onTestFinished(redis.close);
  expect(await redis.health()).toMatchObject({ healthy: true });
});

it.each([
  ["a name that no sentinel knows", (url: string) => url.replace(/\w+$/, "other"), 'knows no primary named "other"'],
  ["a wrong password", (url: string) => url.replace(/:[^/@]+@/, ":wrong@"), "WRONGPASS"],
])("the health check reports %s", async (_, spoil, reason) => {
  const redis = await connect(spoil(own.url), { timeoutMs: 300 });
  onTestFinished(redis.close);
  expect(await redis.health()).toMatchObject({ healthy: false, detail: expect.stringContaining(reason) });
});
