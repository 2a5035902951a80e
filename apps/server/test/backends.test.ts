import { ConfigError, readConfig } from "@formbridge/server";
import { describe, expect, it } from "vitest";

const REDIS = { FORMBRIDGE_REDIS_URL: "redis://127.0.0.1" };
const POSTGRES = { FORMBRIDGE_DATABASE_URL: "postgres://me@127.0.0.1/db", FORMBRIDGE_SECRET: "a secret for instances" };
const MEMORY = { FORMBRIDGE_DATABASE_URL: "memory:" };
const tokens = (backend: string) => ({ FORMBRIDGE_TOKEN_BACKEND: backend });
const idempotency = (backend: string) => ({ FORMBRIDGE_IDEMPOTENCY_BACKEND: backend });

describe("which backend serves what", () => {
  it("is the database's own, unless another one is chosen", () => {
    expect(readConfig({}).backends).toEqual({ tokens: "sql", idempotency: "sql" });
    expect(readConfig({ ...POSTGRES, ...REDIS }).backends).toEqual({ tokens: "sql", idempotency: "sql" });
    expect(readConfig(MEMORY).backends).toEqual({ tokens: "memory", idempotency: "memory" });
    expect(readConfig({})).not.toHaveProperty("redis");
  });

  it.each([
    { ...REDIS, ...tokens("hybrid"), ...idempotency("redis") },
    { ...POSTGRES, ...REDIS, ...tokens("redis"), ...idempotency("redis") },
    { ...POSTGRES, ...REDIS, ...tokens("sql"), ...idempotency("redis") },
    { ...tokens("sql"), ...idempotency("memory") },
    { ...MEMORY, ...tokens("memory"), ...idempotency("memory") },
  ])("may be %j", (env) => {
    const { FORMBRIDGE_TOKEN_BACKEND, FORMBRIDGE_IDEMPOTENCY_BACKEND } = env;
    expect(readConfig(env).backends).toEqual({
      tokens: FORMBRIDGE_TOKEN_BACKEND,
      idempotency: FORMBRIDGE_IDEMPOTENCY_BACKEND,
    });
  });

  it.each([
    [tokens("redis"), "FORMBRIDGE_REDIS_URL is not set"],
    [tokens("hybrid"), "FORMBRIDGE_REDIS_URL is not set"],
    [idempotency("redis"), "FORMBRIDGE_REDIS_URL is not set"],
    [{ ...POSTGRES, ...tokens("memory") }, "do not see each other's memory"],
    [{ ...POSTGRES, ...REDIS, ...idempotency("memory") }, "do not see each other's memory"],
    [tokens("memory"), "end with the process"],
    [{ ...MEMORY, ...tokens("sql") }, "no SQL"],
    [{ ...MEMORY, ...REDIS, ...tokens("hybrid") }, "needs a durable database behind it"],
    [{ ...MEMORY, ...REDIS, ...idempotency("redis") }, "needs a durable database behind it"],
    [tokens("mongo"), "sql, redis, hybrid, memory"],
    [idempotency("hybrid"), "sql, redis, memory"],
  ])("[RUNNING-REDIS-CHOICE] is refused with an explanation: %j", (env, words) => {
    expect(() => readConfig(env)).toThrow(ConfigError);
    expect(() => readConfig(env)).toThrow(words);
    expect(() => readConfig(env)).toThrow(/FORMBRIDGE_(TOKEN|IDEMPOTENCY)_BACKEND/);
  });
});

describe("the URL of Redis", () => {
  it("[RUNNING-CLI-ENVIRONMENT] can be set by the name that platforms use", () => {
    expect(readConfig({ REDIS_URL: "rediss://cache:7000" }).redis).toMatchObject({
      address: { tls: true, hosts: [{ host: "cache", port: 7000 }] },
      prefix: "formbridge",
    });
  });

  it.each([
    ["FORMBRIDGE_REDIS_URL", "http://me:pa55@cache"],
    ["FORMBRIDGE_REDIS_URL", "redis://one,two"],
    ["FORMBRIDGE_REDIS_PREFIX", "{tag}"],
    ["FORMBRIDGE_REDIS_TIMEOUT_MS", "0"],
    ["FORMBRIDGE_REDIS_LOCK_MS", "soon"],
  ])("%s=%s is refused, and no password shown", (name, value) => {
    const refused = () => readConfig({ ...REDIS, [name]: value });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(name);
    expect(refused).not.toThrow("pa55");
  });
});
