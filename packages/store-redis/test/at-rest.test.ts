import { fixtures } from "@formbridge/conformance";
import type { Backend, Change } from "@formbridge/core";
import { createMemoryBackend, createMemoryRateLimiter } from "@formbridge/store-memory";
import { createRedisRateLimiter, type Redis } from "@formbridge/store-redis";
import { afterAll, beforeEach, expect, it } from "vitest";
import { newPrefix, redisUrl } from "../../../test/support/services/redis.ts";
import { asOperator, connect, inFrontOf } from "./open.ts";

const { creation, HOUR, INTAKE, keyWrite, TENANT, update } = fixtures;
const url = await redisUrl();
const prefix = newPrefix();
const redis: Redis = await connect(url, { prefix });
afterAll(redis.close);

let truth: Backend;
let backend: Backend;
beforeEach(() => {
  truth = createMemoryBackend({ now: () => 0 });
  backend = inFrontOf(truth, redis, { tokens: "redis", idempotency: "redis" });
});

const hashOf = (change: Change): string => change.token?.hash ?? "";
const keys = async (): Promise<string[]> => (await asOperator(url, "KEYS", `${prefix}:*`)) as string[];

async function dump(key: string): Promise<string> {
  const type = await asOperator(url, "TYPE", key);
  return `${key} ${JSON.stringify(await asOperator(url, ...(type === "hash" ? ["HGETALL", key] : ["GET", key])))}`;
}

it("[RUNNING-REDIS-NO-SECRETS] Redis contains hashes and sealed text: no value, address, id or response", async () => {
  const key = keyWrite({ expiresAt: HOUR, answer: "the answer", principal: "key:the principal" });
  const change = creation({ at: 0, fields: { name: "a value" } }, { key });
  await backend.store.commit(change);
  const leave = await backend.idempotency.enter({ ...key.ref, tenant: TENANT, intakeId: INTAKE }, lastLimits);
  const limiter = createRedisRateLimiter(redis, createMemoryRateLimiter({ now: () => 0 }));
  await limiter.hit({ name: "lookups", limit: 3, windowMs: 60_000 }, "192.0.2.7");
  const names = await keys();
  const kinds = new Set(names.map((name) => name.split(":")[1]));
  expect([...kinds].toSorted()).toEqual(["current", "lock", "rate", "token"]);
  const everything = (await Promise.all(names.map(dump))).join("\n");
  const { submissionId } = change.row.submission;
  for (const secret of [
    "a value",
    "the answer",
    "the principal",
    "192.0.2.7",
    submissionId,
    change.token?.sealed ?? "",
  ]) {
    expect(everything).not.toContain(secret);
  }
  leave?.();
});

const lastLimits = { timeoutMs: 1_000, maxWaiters: 1 };

it("every key expires, and has one hash tag", async () => {
  await backend.store.commit(creation({ at: 0 }, { key: keyWrite({ expiresAt: HOUR }) }));
  for (const key of await keys()) {
    expect(await asOperator(url, "PTTL", key), key).toBeGreaterThan(0);
    expect(key).toMatch(/^[^{}]+\{[0-9a-f]{64}\}$/);
  }
});

it("values written by others are not trusted", async () => {
  const [own, foreign] = [creation({ at: 0 }), creation({ at: 0 })];
  for (const change of [own, foreign]) await backend.store.commit(change);
  const keyOf = (change: Change) => redis.key("token", hashOf(change));
  const sealed = (await asOperator(url, "GET", keyOf(foreign))) as string;
  for (const planted of [sealed, "{}", JSON.stringify(await truth.tokens.find(hashOf(foreign)))]) {
    await asOperator(url, "SET", keyOf(own), planted);
    const { submissionId } = own.row.submission;
    expect(await backend.tokens.find(hashOf(own))).toMatchObject({ submissionId });
    const loaded = await backend.store.load({ by: { token: hashOf(own) } });
    expect(loaded.submission?.submission.submissionId).toBe(submissionId);
  }
});

it("a token that Redis reports as current is checked against the database before access is granted", async () => {
  const first = creation({ at: 0 });
  await backend.store.commit(first);
  // Commit without Redis, like a process that can't reach it.
  await truth.store.commit(update(first, 5));
  expect((await backend.store.load({ by: { token: hashOf(first) } })).presented).toMatchObject({ rotatedAt: 5 });
});
