import { createClock, fixtures } from "@formbridge/conformance";
import { type Backend, type Change, StoreDown } from "@formbridge/core";
import { createMemoryBackend } from "@formbridge/store-memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { ownRedis } from "../../../test/support/services/redis.ts";
import { asOperator, connect, eventually, inFrontOf } from "./open.ts";

const { creation, HOUR, INTAKE, keyWrite, TENANT, update } = fixtures;
const LIMITS = { timeoutMs: 5_000, maxWaiters: 100 };
const hashOf = (change: Change): string => change.token?.hash ?? "";
const newKey = () => ({ ...keyWrite({ expiresAt: HOUR }).ref, tenant: TENANT, intakeId: INTAKE });
const refusal = (work: Promise<unknown> | undefined) => work?.then(() => undefined).catch((error: unknown) => error);

/** Both modes of Redis in front of one database, on a Redis of their own. */
async function scene(more: Record<string, string> = {}, timeoutMs = 5_000) {
  const server = await ownRedis(more);
  const clock = createClock();
  const truth = createMemoryBackend({ now: clock.now });
  const redis = await connect(server.url, { timeoutMs });
  onTestFinished(async () => {
    redis.close();
    await server.remove();
  });
  const hybrid = inFrontOf(truth, redis, { tokens: "hybrid", idempotency: "sql" });
  const strict = inFrontOf(truth, redis, { tokens: "redis", idempotency: "redis" });
  return { server, clock, truth, redis, hybrid, strict };
}

async function created({ store }: Backend, at: number): Promise<Change> {
  const change = creation({ at });
  expect(await store.commit(change)).toMatchObject({ kind: "committed" });
  return change;
}

async function expectRefused(backend: Backend, token: string): Promise<void> {
  for (const work of [
    backend.tokens.find(token),
    backend.store.load({ by: { token } }),
    backend.idempotency.enter(newKey(), LIMITS),
  ]) {
    const error = await refusal(work);
    expect(error).toBeInstanceOf(StoreDown);
    expect(error).toMatchObject({ outcome: "not_applied" });
  }
}

const works = (backend: Backend, token: string) => () =>
  backend.tokens
    .find(token)
    .then(() => true as const)
    .catch(() => undefined);

describe("a Redis that was flushed", () => {
  it("[RUNNING-REDIS-NOT-TRUTH] loses no token and no record: they come from the database, and fill it again", async () => {
    const { server, strict, clock } = await scene();
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const first = creation({ at: clock.now() }, { key });
    await strict.store.commit(first);
    const second = update(first, clock.now());
    await strict.store.commit(second);
    await asOperator(server.url, "FLUSHALL");
    expect(await strict.tokens.find(hashOf(first))).toMatchObject({ version: 1, rotatedAt: clock.now() });
    expect((await strict.store.load({ by: { token: hashOf(second) } })).presented).toMatchObject({ version: 2 });
    expect(await strict.idempotency.find({ ...key.ref, tenant: TENANT, intakeId: INTAKE })).toMatchObject({
      fingerprint: key.fingerprint,
    });
    await eventually(async () => {
      const keys = (await asOperator(server.url, "KEYS", "*:token:*")) as string[];
      return keys.length === 2 ? true : undefined;
    });
  });

  it("lets two in under one key, and only one of them commits", async () => {
    const { server, strict, clock, truth, redis } = await scene();
    const other = inFrontOf(truth, redis, { tokens: "redis", idempotency: "redis" });
    const key = keyWrite({ expiresAt: clock.now() + HOUR });
    const scope = { ...key.ref, tenant: TENANT, intakeId: INTAKE };
    await strict.idempotency.enter(scope, LIMITS);
    await asOperator(server.url, "FLUSHALL");
    expect(await other.idempotency.enter(scope, LIMITS)).toBeTypeOf("function");
    const answers = await Promise.all(
      [strict, other].map(({ store }) => store.commit(creation({ at: clock.now() }, { key: { ...key } }))),
    );
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(["committed", "key_taken"]);
  });

  it("runs scripts that it has forgotten", async () => {
    const { server, strict } = await scene();
    const key = newKey();
    (await strict.idempotency.enter(key, LIMITS))?.();
    await asOperator(server.url, "SCRIPT", "FLUSH");
    expect(await strict.idempotency.enter(key, LIMITS)).toBeTypeOf("function");
  });
});

describe("a Redis that was killed", () => {
  it("[RUNNING-REDIS-DOWN] is bypassed by hybrid at once, and a refusal without effect for redis", async () => {
    const { server, hybrid, strict, clock } = await scene();
    const before = await created(hybrid, clock.now());
    await server.kill();
    await eventually(async () => (await refusal(strict.tokens.find(hashOf(before)))) && true);
    const began = performance.now();
    expect(await hybrid.tokens.find(hashOf(before))).toMatchObject({ version: 1 });
    const after = update(before, clock.now());
    expect(await hybrid.store.commit(after)).toMatchObject({ kind: "committed" });
    expect((await hybrid.store.load({ by: { token: hashOf(after) } })).presented).toMatchObject({ version: 2 });
    await expectRefused(strict, hashOf(after));
    expect(performance.now() - began).toBeLessThan(2_000);
    const record = keyWrite({ expiresAt: clock.now() + HOUR });
    await hybrid.store.commit(creation({ at: clock.now() }, { key: record }));
    expect(await strict.idempotency.find({ ...record.ref, tenant: TENANT, intakeId: INTAKE })).toBeDefined();
    expect(await hybrid.tokens.health()).toMatchObject({ healthy: true, detail: expect.stringContaining("Redis") });
    expect(await strict.tokens.health()).toMatchObject({ healthy: false });
    expect(await strict.idempotency.health()).toMatchObject({ healthy: false });
  });

  it("serves again soon after it is back, and never reports a rotated token as current", async () => {
    const { server, hybrid, strict, clock } = await scene({ appendonly: "yes", appendfsync: "always" });
    const before = await created(hybrid, clock.now());
    expect(await strict.tokens.find(hashOf(before))).not.toHaveProperty("rotatedAt");
    await server.kill();
    clock.advance(1);
    await eventually(async () => (await refusal(strict.tokens.find(hashOf(before)))) && true);
    await hybrid.store.commit(update(before, clock.now()));
    await server.restart();
    await eventually(works(strict, hashOf(before)), 2_000);
    // Redis missed the update, so its token is checked against the database.
    const { presented, submission } = await strict.store.load({ by: { token: hashOf(before) } });
    expect(presented).toMatchObject({ version: 1, rotatedAt: clock.now() });
    expect(submission?.submission.version).toBe(2);
    expect(await strict.idempotency.enter(newKey(), LIMITS)).toBeTypeOf("function");
  });
});

describe("a Redis that does not respond", () => {
  it("delays calls no longer than the timeout, then not at all, and serves again when it responds", async () => {
    const { server, hybrid, strict, clock } = await scene({}, 100);
    const change = await created(hybrid, clock.now());
    server.pause();
    try {
      for (let call = 0; call < 5; call += 1) await hybrid.tokens.find(hashOf(change));
      const began = performance.now();
      for (let call = 0; call < 20; call += 1) {
        expect(await hybrid.tokens.find(hashOf(change))).toMatchObject({ version: 1 });
      }
      // At most one of them called Redis.
      expect(performance.now() - began).toBeLessThan(500);
      await expectRefused(strict, hashOf(change));
    } finally {
      server.resume();
    }
    await eventually(works(strict, hashOf(change)), 2_000);
  });
});

describe("a Redis that is full", () => {
  it("and evicts keys: every lookup returns what the database would", async () => {
    const { server, hybrid, strict, truth, clock } = await scene({ "maxmemory-policy": "allkeys-random" });
    // With scripts loaded and connections open, there is memory left for some of the tokens.
    await created(strict, clock.now());
    const used = /used_memory:(\d+)/.exec(String(await asOperator(server.url, "INFO", "memory")))?.[1];
    await asOperator(server.url, "CONFIG", "SET", "maxmemory", String(Number(used) + 150_000));
    const changes: Change[] = [];
    for (let made = 0; made < 150; made += 1) {
      const first = await created(hybrid, clock.now());
      clock.advance(1);
      const second = update(first, clock.now());
      await strict.store.commit(second);
      changes.push(first, second);
    }
    expect(await asOperator(server.url, "INFO", "stats")).toMatch(/evicted_keys:[1-9]/);
    for (const change of changes) {
      const { presented } = await strict.store.load({ by: { token: hashOf(change) } });
      expect(presented).toEqual(await truth.tokens.find(hashOf(change)));
    }
  });

  it("and accepts no writes: hybrid continues, redis refuses", async () => {
    const { hybrid, strict, clock } = await scene({ maxmemory: "1", "maxmemory-policy": "noeviction" });
    const change = await created(hybrid, clock.now());
    expect(await hybrid.tokens.find(hashOf(change))).toMatchObject({ version: 1 });
    expect(await refusal(strict.idempotency.enter(newKey(), LIMITS))).toBeInstanceOf(StoreDown);
  });
});
