import { fixtures } from "@formbridge/conformance";
import type { Backend, ScopedKey } from "@formbridge/core";
import { createMemoryBackend } from "@formbridge/store-memory";
import type { InFrontOptions, Redis } from "@formbridge/store-redis";
import { afterAll, describe, expect, it, vi } from "vitest";
import { newPrefix, redisClusterUrl, redisUrl } from "../../../test/support/services/redis.ts";
import { asOperator, connect, eventually, inFrontOf } from "./open.ts";

const { creation, HOUR, INTAKE, keyWrite, TENANT } = fixtures;
const LIMITS = { timeoutMs: 10_000, maxWaiters: 100 };
const AT_ONCE = { timeoutMs: 1, maxWaiters: 100 };
const paused = () => () => {};

const single = await redisUrl();
const opened: Redis[] = [];
afterAll(() => {
  for (const redis of opened) redis.close();
});

async function open(url: string, prefix: string): Promise<Redis> {
  const redis = await connect(url, { prefix });
  opened.push(redis);
  return redis;
}

/** Several server instances, each with its own connections, sharing one database. */
async function instances(count: number, options: { url?: string; lock?: InFrontOptions["lock"] } = {}) {
  const { url = single, lock = { lifeMs: 10_000 } } = options;
  const prefix = newPrefix();
  const truth = createMemoryBackend({ now: () => 0 });
  const join = async (more: Partial<InFrontOptions["lock"]> = {}, redis?: Redis): Promise<Backend> =>
    inFrontOf(truth, redis ?? (await open(url, prefix)), {
      tokens: "sql",
      idempotency: "redis",
      lock: { ...lock, ...more },
    });
  return { truth, prefix, join, all: await Promise.all(Array.from({ length: count }, () => join())) };
}

const newKey = (): ScopedKey => ({ operation: "create", hash: fixtures.newHash(), tenant: TENANT, intakeId: INTAKE });

describe.each([
  ["one server", single],
  ["a cluster", await redisClusterUrl()],
])("the lock of a key on %s", (_, url) => {
  it("admits one at a time, on any instance", async () => {
    const { all } = await instances(3, { url });
    const key = newKey();
    let inside = 0;
    let visits = 0;
    const visit = async (guest: number) => {
      const leave = await all[guest % all.length]?.idempotency.enter(key, LIMITS);
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      visits += 1;
      leave?.();
    };
    await Promise.all(Array.from({ length: 30 }, (_unused, guest) => visit(guest)));
    expect(visits).toBe(30);
  });
});

describe("the lock of a key", () => {
  it("is not released by a late owner once another one has it", async () => {
    const { all, join } = await instances(2);
    const sleeper = await join({ lifeMs: 50, repeat: paused });
    const key = newKey();
    const late = await sleeper.idempotency.enter(key, LIMITS);
    const next = await all[0]?.idempotency.enter(key, LIMITS);
    expect(next).toBeTypeOf("function");
    late?.();
    // The late release is processed before this attempt: they share a connection.
    expect(await sleeper.idempotency.enter(key, AT_ONCE)).toBeUndefined();
    expect(await all[1]?.idempotency.enter(key, AT_ONCE)).toBeUndefined();
    next?.();
    expect(await all[1]?.idempotency.enter(key, LIMITS)).toBeTypeOf("function");
  });

  it("[RUNNING-REDIS-LOST-LOCK] lost by a paused owner lets two in, and only one of them commits", async () => {
    const { all, join } = await instances(1);
    const sleeper = await join({ lifeMs: 50, repeat: paused });
    const key = keyWrite({ expiresAt: HOUR });
    const scope = { ...key.ref, tenant: TENANT, intakeId: INTAKE };
    await sleeper.idempotency.enter(scope, LIMITS);
    await all[0]?.idempotency.enter(scope, LIMITS);
    const answers = await Promise.all(
      [sleeper, ...all].map(({ store }) => store.commit(creation({ at: 0 }, { key: { ...key } }))),
    );
    expect(answers.map((answer) => answer.kind).toSorted()).toEqual(["committed", "key_taken"]);
  });

  it("is extended by its owner while it works, and by nobody else", async () => {
    const { prefix, join } = await instances(0);
    const stop = vi.fn();
    let extend = () => {};
    const repeat = (work: () => void, everyMs: number) => {
      expect(everyMs).toBeLessThan(30_000);
      extend = work;
      return stop;
    };
    const worker = await join({ lifeMs: 60_000, repeat });
    const leave = await worker.idempotency.enter(newKey(), LIMITS);
    const [name = ""] = (await asOperator(single, "KEYS", `${prefix}:lock:*`)) as string[];
    const lifeOf = async () => Number(await asOperator(single, "PTTL", name));
    await asOperator(single, "PEXPIRE", name, "10000");
    extend();
    await eventually(async () => ((await lifeOf()) > 30_000 ? true : undefined));
    await asOperator(single, "SET", name, "another", "PX", "10000");
    extend();
    await vi.waitFor(() => expect(stop).toHaveBeenCalled(), 5_000);
    expect(await lifeOf()).toBeLessThanOrEqual(10_000);
    leave?.();
  });

  it("is free soon after its owner died", async () => {
    const { all, join } = await instances(1);
    const victim = await join({ lifeMs: 50, repeat: paused });
    const key = newKey();
    await victim.idempotency.enter(key, LIMITS);
    expect(await all[0]?.idempotency.enter(key, LIMITS)).toBeTypeOf("function");
  });
});

describe("a record in the database", () => {
  it("[AUDIT-F29] is not waited for: a caller that finds the lock of a dead instance continues at once", async () => {
    const { all, join, truth } = await instances(1);
    const victim = await join({ lifeMs: 600_000, repeat: paused });
    const key = keyWrite({ expiresAt: HOUR });
    const scope = { ...key.ref, tenant: TENANT, intakeId: INTAKE };
    await victim.idempotency.enter(scope, LIMITS);
    await truth.store.commit(creation({ at: 0 }, { key }));
    const began = performance.now();
    expect(await all[0]?.idempotency.enter(scope, LIMITS)).toBeTypeOf("function");
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("[AUDIT-F29] ends a wait that began before it, and admits everybody queued behind it", async () => {
    const { all, join, truth, prefix } = await instances(1, { lock: { lifeMs: 10_000, lookEveryMs: 20 } });
    const victim = await join({ lifeMs: 600_000, repeat: paused });
    const key = keyWrite({ expiresAt: HOUR });
    const scope = { ...key.ref, tenant: TENANT, intakeId: INTAKE };
    await victim.idempotency.enter(scope, LIMITS);
    const waiting = [1, 2, 3].map(async () => (await all[0]?.idempotency.enter(scope, LIMITS))?.() ?? "entered");
    await eventually(() => isWaiting(prefix));
    await truth.store.commit(creation({ at: 0 }, { key }));
    expect(await within(5_000, Promise.all(waiting))).toEqual(["entered", "entered", "entered"]);
  });
});

describe("a caller that waits for a key", () => {
  const SELDOM = { lifeMs: 60_000, lookEveryMs: 60_000 };

  it("is woken by a message, and does not poll", async () => {
    const { all, prefix } = await instances(2, { lock: SELDOM });
    const key = newKey();
    const leave = await all[0]?.idempotency.enter(key, LIMITS);
    const waiting = all[1]?.idempotency.enter(key, LIMITS);
    await eventually(() => isWaiting(prefix));
    leave?.();
    expect(await within(5_000, waiting)).toBeTypeOf("function");
  });

  it("checks again when messages do not arrive", async () => {
    const { all, prefix, join } = await instances(1, { lock: SELDOM });
    const deaf = await join({ lookEveryMs: 20 }, { ...(await open(single, prefix)), listen: () => () => {} });
    const key = newKey();
    const leave = await all[0]?.idempotency.enter(key, LIMITS);
    const waiting = deaf.idempotency.enter(key, LIMITS);
    await eventually(() => isWaiting(prefix));
    leave?.();
    expect(await waiting).toBeTypeOf("function");
  });

  it("is woken when the connection for messages is back", async () => {
    const { all, prefix, join } = await instances(1, { lock: { ...SELDOM, repeat: paused } });
    const listening = await open(single, prefix);
    let missed = 0;
    const counting: Redis = {
      ...listening,
      listen: (channel, { hear, missed: tell }) =>
        listening.listen(channel, {
          hear: () => hear("of another key"),
          missed: () => {
            missed += 1;
            tell();
          },
        }),
    };
    const deaf = await join({}, counting);
    await eventually(async () => (missed > 0 ? true : undefined));
    const key = newKey();
    const leave = await all[0]?.idempotency.enter(key, LIMITS);
    const waiting = deaf.idempotency.enter(key, LIMITS);
    await eventually(() => isWaiting(prefix));
    leave?.();
    await asOperator(single, "CLIENT", "KILL", "TYPE", "pubsub");
    expect(await within(5_000, waiting)).toBeTypeOf("function");
  });
});

const within = <Result>(ms: number, work: Promise<Result> | undefined): Promise<Result | undefined | "too late"> =>
  Promise.race([work, new Promise<"too late">((resolve) => setTimeout(() => resolve("too late"), ms))]);

const isWaiting = async (prefix: string): Promise<true | undefined> => {
  const keys = (await asOperator(single, "KEYS", `${prefix}:waiting:*`)) as string[];
  return keys.length > 0 ? true : undefined;
};
