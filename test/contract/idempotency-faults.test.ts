import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StoreDown, sha256 } from "@formbridge/core";
import { afterEach, describe, expect, it } from "vitest";
import { startServerProcess, tempFolder } from "../support/child.ts";
import { type ServerOptions, startTestServer, type TestServer } from "../support/harness.ts";
import { create, created, createLatch, idempotencyKey, setFields, submit, until } from "../support/moves.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: ServerOptions): Promise<TestServer> {
  const server = await startTestServer(options);
  closers.push(() => server.stop());
  await server.putIntake({ id: "forms" });
  return server;
}

/** Holds the next commits until the latch opens; counts them. */
function holdCommits(server: TestServer) {
  const { store } = server.server.core.backend;
  const latch = createLatch();
  const original = store.commit.bind(store);
  let held = 0;
  store.commit = async (change) => {
    held += 1;
    await latch.opened;
    return await original(change);
  };
  closers.push(latch.open);
  return { release: latch.open, held: () => held };
}

describe("many at once", () => {
  it.each(["sqlite", "memory"] as const)(
    "[IDEMPOTENCY-CONCURRENT] of 30 creates with one key one creates and 29 replay (%s)",
    async (store) => {
      const server = await start({ store });
      const body = { idempotencyKey: idempotencyKey("stampede"), initialFields: { name: "Ada" } };
      const replies = await Promise.all(Array.from({ length: 30 }, () => create(server, "forms", { body })));
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(replies.filter(({ status, body: answer }) => status === 200 && answer._idempotent === true)).toHaveLength(
        29,
      );
      expect(new Set(replies.map(({ body: answer }) => answer.submissionId)).size).toBe(1);
      const list = await server.call("GET", "/submissions", { key: server.adminKey });
      expect(list.body.items).toHaveLength(1);
    },
  );

  it("[IDEMPOTENCY-CONCURRENT] of 20 submits with one key one submits and 19 replay", async () => {
    const server = await start({ store: "sqlite" });
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const replies = await Promise.all(Array.from({ length: 20 }, () => submit(server, resumeToken, "at-once")));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(replies.filter(({ body }) => body._idempotent === false)).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => body.resumeToken)).size).toBe(1);
    const events = await server.call("GET", `/submissions/${submissionId}/events?types=submission.submitted`, {
      key: server.adminKey,
    });
    expect(events.body.events).toHaveLength(1);
  });

  it("[IDEMPOTENCY-WAIT-LIMIT] a caller that waited too long gets a retryable 503 locked, and the replay later", async () => {
    const server = await start({ store: "memory", env: { FORMBRIDGE_KEY_WAIT_MS: "50" } });
    const commits = holdCommits(server);
    const body = { idempotencyKey: idempotencyKey("slow") };
    const slow = create(server, "forms", { body });
    await until(() => commits.held() > 0 || undefined);
    const impatient = await create(server, "forms", { body });
    expect(impatient.status).toBe(503);
    expect(impatient.body.error).toMatchObject({ type: "locked", retryable: true, retryAfterMs: expect.any(Number) });
    expect(Number(impatient.headers["retry-after"])).toBeGreaterThan(0);
    commits.release();
    expect((await slow).status).toBe(201);
    expect((await create(server, "forms", { body })).body._idempotent).toBe(true);
  });

  it("[IDEMPOTENCY-WAITERS-LIMIT] calls beyond the queue's limit still wait: for the replay, or until the full wait is over", async () => {
    const env = { FORMBRIDGE_MAX_KEY_WAITERS: "2", FORMBRIDGE_KEY_WAIT_MS: "500" };
    const server = await start({ store: "memory", env });
    const commits = holdCommits(server);
    const { idempotency } = server.server.core.backend;
    const enter = idempotency.enter;
    let entered = 0;
    idempotency.enter = (...call) => {
      entered += 1;
      return enter(...call);
    };
    const body = { idempotencyKey: idempotencyKey("crowd") };
    const inLine = [];
    for (let place = 1; place <= 3; place++) {
      inLine.push(create(server, "forms", { body }));
      await until(() => entered === place || undefined);
    }
    const began = performance.now();
    const tooMany = await create(server, "forms", { body });
    expect([tooMany.status, tooMany.body.error.type]).toEqual([503, "locked"]);
    expect(performance.now() - began).toBeGreaterThan(490);
    const outside = [create(server, "forms", { body }), create(server, "forms", { body })];
    commits.release();
    expect((await Promise.all(inLine.slice(0, 1))).map(({ status }) => status)).toEqual([201]);
    expect((await Promise.all(outside)).map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(inLine);
  });
});

describe("faults", () => {
  it("[IDEMPOTENCY-STORE-DOWN] a store that is down executes nothing; the retry executes once", async () => {
    const server = await start({ store: "sqlite" });
    const { store } = server.server.core.backend;
    const { resumeToken } = await created(server, "forms");
    const down = async (): Promise<never> => {
      throw new StoreDown("gone", "not_applied");
    };
    const body = { idempotencyKey: idempotencyKey("store-down") };
    const original = { load: store.load, commit: store.commit };
    for (const part of ["load", "commit"] as const) {
      store[part] = down;
      for (const reply of [await create(server, "forms", { body }), await submit(server, resumeToken, "down")]) {
        expect([reply.status, reply.body.error.type, reply.body.error.retryable]).toEqual([
          503,
          "service_unavailable",
          true,
        ]);
      }
      Object.assign(store, original);
    }
    const list = await server.call("GET", "/submissions", { key: server.adminKey });
    expect(list.body.items).toHaveLength(1);
    const retried = await create(server, "forms", { body });
    expect([retried.status, retried.body._idempotent]).toEqual([201, false]);
  });

  it("[IDEMPOTENCY-SEALED] neither keys nor tokens can be read from the data folder", async () => {
    const folder = tempFolder();
    closers.push(folder.remove);
    const server = await start({ store: "sqlite", env: { FORMBRIDGE_DATA: folder.path } });
    const keys = [idempotencyKey("readable-create"), "readable-set-fields", "readable-submit"] as const;
    const made = await created(server, "forms", { body: { idempotencyKey: keys[0] } });
    const set = await setFields(server, made.resumeToken, { name: "Ada" }, { body: { idempotencyKey: keys[1] } });
    const sent = await submit(server, set.body.resumeToken, keys[2]);
    const tokens = [made, set.body, sent.body].map(({ resumeToken }) => resumeToken as string);
    const atRest = readdirSync(folder.path)
      .map((name) => readFileSync(join(folder.path, name), "latin1"))
      .join("\n");
    expect(atRest).toContain(sha256(keys[2]));
    for (const secret of [...keys, ...tokens]) expect(atRest).not.toContain(secret);
  });

  it("[IDEMPOTENCY-CRASH] [IDEMPOTENCY-NO-LOCK-LEFT] kill -9 under load, restart, retry: every call was executed once", async () => {
    const folder = tempFolder();
    closers.push(folder.remove);
    const adminKey = `fbk_${"a".repeat(43)}`;
    const env = { FORMBRIDGE_DATA: folder.path, FORMBRIDGE_ADMIN_KEY: adminKey, FORMBRIDGE_RATE_LIMIT: "off" };
    const post = async (url: string, key: string): Promise<{ status: number; submissionId: string }> => {
      const response = await fetch(`${url}/intakes/contact/submissions`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ actor: { kind: "agent", id: "bot" }, initialFields: { name: "Ada" } }),
      });
      const { submissionId } = (await response.json()) as { submissionId: string };
      return { status: response.status, submissionId };
    };
    const keys = Array.from({ length: 60 }, (_, index) => idempotencyKey(`crash-${index}`));
    const first = await startServerProcess(env);
    const answered = new Map<string, string>();
    const burst = Promise.allSettled(
      keys.map(async (key) => {
        const { submissionId } = await post(first.url, key);
        answered.set(key, submissionId);
      }),
    );
    await until(() => answered.size > 0 || undefined);
    await first.kill();
    await burst;

    const second = await startServerProcess(env);
    closers.push(() => second.kill());
    const retries = await Promise.all(keys.map((key) => post(second.url, key)));
    expect(retries.every(({ status }) => status === 200 || status === 201)).toBe(true);
    for (const [index, key] of keys.entries()) {
      const known = answered.get(key);
      if (known !== undefined) expect(retries[index]).toEqual({ status: 200, submissionId: known });
    }
    const response = await fetch(`${second.url}/submissions?limit=1000`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    const { items } = (await response.json()) as { items: unknown[] };
    expect(items).toHaveLength(keys.length);
  });
});
