import { sha256 } from "@formbridge/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { createDatabase } from "../support/services/postgres.ts";
import { newPrefix, ownRedis, redisUrl } from "../support/services/redis.ts";

const actor = { kind: "human", id: "ada" };
const create = (server: TestServer, key: string) =>
  server.call("POST", "/intakes/plain/submissions", {
    headers: { "idempotency-key": key },
    body: { actor, initialFields: { name: "Ada" } },
  });
const newKey = (): string => `key-${crypto.randomUUID()}-${crypto.randomUUID()}`;

async function start(env: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer({ fakeClock: false, env });
  onTestFinished(server.stop);
  await server.putIntake(minimalIntake("plain"));
  return server;
}

async function startOnOwnRedis(env: Record<string, string>) {
  const redis = await ownRedis();
  onTestFinished(redis.remove);
  return { redis, server: await start({ FORMBRIDGE_REDIS_URL: redis.url, ...env }) };
}

async function untilStatus(server: TestServer, path: string, status: number): Promise<void> {
  const deadline = Date.now() + 5_000;
  while ((await server.call("GET", path)).status !== status) {
    if (Date.now() > deadline) throw new Error(`${path} did not become ${status}`);
  }
}

describe("a Redis that dies", () => {
  it("[RUNNING-REDIS-DOWN] [RUNNING-REDIS-READYZ] where it is required: 503, nothing executed, and it recovers", async () => {
    const { redis, server } = await startOnOwnRedis({
      FORMBRIDGE_TOKEN_BACKEND: "redis",
      FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
    });
    const made = await create(server, newKey());
    expect(made.status).toBe(201);
    const path = `/resume/${made.body.resumeToken}`;
    await redis.kill();
    await untilStatus(server, "/readyz", 503);
    expect((await server.call("GET", "/readyz")).body.stores).toMatchObject({
      store: { healthy: true },
      redis: { healthy: false },
      idempotency: { healthy: false },
    });
    expect((await server.call("GET", "/healthz")).status).toBe(200);
    const key = newKey();
    for (const refused of [await create(server, key), await server.call("GET", path)]) {
      expect(refused.status).toBe(503);
      expect(refused.headers["retry-after"]).toBeDefined();
      expect(refused.body.error).toMatchObject({ type: "service_unavailable", retryable: true });
    }
    const list = await server.call("GET", "/submissions?intakeId=plain", { key: server.adminKey });
    expect(list.body.items).toHaveLength(1);
    await redis.restart();
    await untilStatus(server, "/readyz", 200);
    expect((await server.call("GET", path)).body.version).toBe(made.body.version);
    const again = await create(server, key);
    expect(again.status).toBe(201);
    expect(again.body._idempotent).toBe(false);
  });

  it("[AUDIT-F6] replays come from the database, whatever Redis is used for", async () => {
    const { redis, server } = await startOnOwnRedis({ FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis" });
    const key = newKey();
    const made = await create(server, key);
    const set = () =>
      server.call("PATCH", `/resume/${made.body.resumeToken}`, {
        headers: { "idempotency-key": "set" },
        body: { actor, fields: { note: "x" } },
      });
    const first = await set();
    const send = () =>
      server.call("POST", `/resume/${first.body.resumeToken}/submit`, {
        headers: { "idempotency-key": "send" },
        body: { actor },
      });
    const sent = await send();
    expect([made.status, first.status, sent.status]).toEqual([201, 200, 200]);
    await redis.kill();
    await untilStatus(server, "/readyz", 503);
    const began = performance.now();
    expect((await create(server, key)).body).toMatchObject({
      _idempotent: true,
      submissionId: made.body.submissionId,
      replayCount: 1,
    });
    expect((await set()).body).toEqual({ ...first.body, _idempotent: true });
    expect((await send()).body).toEqual({ ...sent.body, _idempotent: true });
    expect(performance.now() - began).toBeLessThan(2_000);
    // A call without a record is refused: two of them could not be kept apart.
    expect((await create(server, newKey())).status).toBe(503);
  });

  it("[RUNNING-REDIS-READYZ] where it is optional: everything continues, and /readyz reports it without a 503", async () => {
    const { redis, server } = await startOnOwnRedis({
      FORMBRIDGE_TOKEN_BACKEND: "hybrid",
      FORMBRIDGE_RATE_LIMIT: "on",
    });
    expect((await server.call("GET", "/readyz")).body.stores.redis).toMatchObject({ healthy: true, optional: true });
    const key = newKey();
    const made = await create(server, key);
    await redis.kill();
    const written = await server.call("PATCH", `/resume/${made.body.resumeToken}`, {
      body: { actor, fields: { note: "on" } },
    });
    expect(written.status).toBe(200);
    const token = written.body.resumeToken;
    expect((await server.call("GET", `/resume/${token}`)).body.fields).toEqual({ name: "Ada", note: "on" });
    expect((await create(server, key)).body).toMatchObject({ _idempotent: true, resumeToken: token });
    const ready = await server.call("GET", "/readyz");
    expect(ready.status).toBe(200);
    expect(ready.body.stores.redis).toMatchObject({ healthy: false, optional: true });
    await redis.restart();
    expect((await server.call("GET", `/resume/${token}`)).status).toBe(200);
  });

  it("a start without it does not wait", async () => {
    const server = await start({ FORMBRIDGE_REDIS_URL: "redis://127.0.0.1:9", FORMBRIDGE_REDIS_TIMEOUT_MS: "50" });
    expect((await create(server, newKey())).status).toBe(201);
  });
});

describe("two instances on one PostgreSQL and one Redis", () => {
  async function twoInstances(): Promise<[TestServer, TestServer]> {
    const database = await createDatabase();
    onTestFinished(database.drop);
    const env = {
      FORMBRIDGE_DATABASE_URL: database.url,
      FORMBRIDGE_SECRET: "a secret of every test instance",
      FORMBRIDGE_REDIS_URL: await redisUrl(),
      FORMBRIDGE_REDIS_PREFIX: newPrefix(),
      FORMBRIDGE_TOKEN_BACKEND: "hybrid",
      FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
    };
    return [await start(env), await start(env)];
  }

  it("[RUNNING-REDIS-SAME-KEY] [RUNNING-REDIS-FAN-OUT] behave like one server", async () => {
    const instances = await twoInstances();
    const [one, other] = instances;
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, call) => create(instances[call % 2 === 0 ? 0 : 1], key)),
    );
    expect(new Set(answers.map(({ body }) => body.submissionId)).size).toBe(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(31).fill(200), 201]);

    const { submissionId, resumeToken } = answers[0]?.body ?? {};
    const stream = await fetch(`${one.url}/submissions/${submissionId}/events`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${one.adminKey}` },
    });
    const heard = untilHeard(stream, "field.updated");
    const written = await other.call("PATCH", `/resume/${resumeToken}`, { body: { actor, fields: { note: "hello" } } });
    expect(written.status).toBe(200);
    await heard;
    const stale = await one.call("PATCH", `/resume/${resumeToken}`, { body: { actor, fields: { note: "late" } } });
    expect(stale.status).toBe(409);
    expect((await one.call("GET", `/resume/${written.body.resumeToken}`)).body.fields.note).toBe("hello");
  });
});

it("[AUDIT-F29] a retry is answered at once although the instance that executed it died with the lock", async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const env = {
    FORMBRIDGE_DATABASE_URL: database.url,
    FORMBRIDGE_SECRET: "a secret of every test instance",
    FORMBRIDGE_REDIS_URL: await redisUrl(),
    FORMBRIDGE_REDIS_PREFIX: newPrefix(),
    FORMBRIDGE_REDIS_TIMEOUT_MS: "10000",
    FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
    FORMBRIDGE_REDIS_LOCK_MS: "600000",
  };
  const [victim, other] = [await start(env), await start(env)];
  const { store } = victim.server.core.backend;
  const commit = store.commit.bind(store);
  const committed = Promise.withResolvers<void>();
  const revived = Promise.withResolvers<void>();
  const [early, late] = [newKey(), newKey()];
  let reached = 0;
  // It commits and then dies: nobody releases its lock.
  store.commit = async (change) => {
    reached += 1;
    if (change.key?.ref.hash === sha256(early)) await committed.promise;
    const answer = await commit(change);
    await revived.promise;
    return answer;
  };
  const dead = [create(victim, early), create(victim, late)];
  try {
    await until(() => reached === 2 || undefined);
    const began = performance.now();
    const waiting = create(other, early);
    expect((await create(other, late)).body).toMatchObject({ _idempotent: true });
    committed.resolve();
    expect((await waiting).body).toMatchObject({ _idempotent: true });
    expect(performance.now() - began).toBeLessThan(9_000);
  } finally {
    committed.resolve();
    revived.resolve();
    await Promise.all(dead);
  }
});

async function untilHeard({ body }: Response, word: string): Promise<void> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(word)) return;
  }
  throw new Error(`the stream ended without ${word}`);
}

it.each(["redis", "hybrid"])(
  "[RETENTION-CACHES] a token that Redis knows is unknown once its submission is erased (%s)",
  async (tokens) => {
    const server = await start({
      FORMBRIDGE_REDIS_URL: await redisUrl(),
      FORMBRIDGE_REDIS_PREFIX: newPrefix(),
      FORMBRIDGE_REDIS_TIMEOUT_MS: "10000",
      FORMBRIDGE_TOKEN_BACKEND: tokens,
    });
    const { submissionId, resumeToken: first } = (await create(server, newKey())).body;
    const cancelled = await server.call("DELETE", `/resume/${first}`);
    const known = [first, cancelled.body.resumeToken];
    for (const token of known) expect((await server.call("GET", `/resume/${token}`)).status).toBe(200);
    const erase = await server.call("POST", `/submissions/${submissionId}/erase`, { key: server.adminKey, body: {} });
    expect(erase.status).toBe(200);
    for (const token of known) {
      const reply = await server.call("GET", `/resume/${token}`);
      expect([reply.status, reply.body.error.type]).toEqual([404, "token_invalid"]);
    }
  },
);
