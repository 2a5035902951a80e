import { afterEach, describe, expect, it } from "vitest";
import { type Reply, type ServerOptions, startTestServer, type TestServer } from "../support/harness.ts";
import { create, created, createLatch, eventsOf, idempotencyKey, setFields, submit, until } from "../support/moves.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/services/postgres.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const REPLAYS = isLong ? 4_000 : 400;
const SUBMITS = isLong ? 2_000 : 200;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  closers.push(() => server.stop());
  await server.putIntake({ id: "forms" });
  return server;
}

async function ownDatabase(): Promise<TestDatabase> {
  const database = await createMigratedDatabase();
  closers.push(() => database.drop());
  return database;
}

/** One of the instances that share a PostgreSQL. */
const startOn = ({ url }: TestDatabase, env: Record<string, string> = {}): Promise<TestServer> =>
  start({
    // No settings of its own: the URL wins.
    store: "memory",
    fakeClock: false,
    env: { FORMBRIDGE_DATABASE_URL: url, FORMBRIDGE_SECRET: "a secret of every test instance", ...env },
  });

const atOnce = (count: number, call: (index: number) => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

function tally(replies: readonly Reply[]): Record<string, number> {
  const names = replies.map(({ status, body }) => `${status} ${body.error?.type ?? ""}`.trim());
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The replays in the history, however many pages they are. */
async function replaysOf(server: TestServer, submissionId: string): Promise<Record<string, unknown>[]> {
  const payloads: Record<string, unknown>[] = [];
  for (let after = ""; ; ) {
    const path = `/submissions/${submissionId}/events?types=submission.replayed&limit=1000${after}`;
    const { body } = await server.call("GET", path, { key: server.adminKey });
    for (const event of body.events) payloads.push(event.payload);
    if (!body.hasMore) return payloads;
    after = `&afterEventId=${body.events.at(-1).eventId}`;
  }
}

describe("many at once", () => {
  it(`[AUDIT-F4] ${REPLAYS} simultaneous replays of a finished submit are all answered, each counted once`, async () => {
    const server = await start();
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const first = await submit(server, resumeToken, "finished");
    expect(first.status).toBe(200);
    const [original] = await eventsOf(server, submissionId, "types=submission.submitted");
    const replies = await atOnce(REPLAYS, () => submit(server, resumeToken, "finished"));
    expect(tally(replies)).toEqual({ 200: REPLAYS });
    const answers = new Set(replies.map(({ body }) => JSON.stringify(body)));
    expect([...answers]).toEqual([JSON.stringify({ ...first.body, _idempotent: true })]);
    const replays = await replaysOf(server, submissionId);
    expect(replays.map(({ replayNumber }) => replayNumber)).toEqual(upTo(REPLAYS));
    for (const replay of replays) {
      expect(replay).toMatchObject({ operation: "submit", originalEventId: original.eventId });
    }
  });

  it("[AUDIT-F4] simultaneous replays of a create each return their own count", async () => {
    const server = await start();
    const body = { idempotencyKey: idempotencyKey("counted"), initialFields: { name: "Ada" } };
    const { submissionId } = await created(server, "forms", { body });
    const replies = await atOnce(100, () => create(server, "forms", { body }));
    const counts = replies.map((reply) => reply.body.replayCount as number).toSorted((one, other) => one - other);
    expect(counts).toEqual(upTo(100));
    expect(await replaysOf(server, submissionId)).toHaveLength(100);
  });

  it("[AUDIT-F4] replays are answered while others write to the same submission", async () => {
    const server = await start();
    const { resumeToken, submissionId } = await created(server, "forms");
    const move = { body: { idempotencyKey: "first-write" } };
    const first = await setFields(server, resumeToken, { name: "Ada" }, move);
    let token = first.body.resumeToken;
    const replaying = atOnce(100, () => setFields(server, resumeToken, { name: "Ada" }, move));
    for (let round = 0; round < 10; round++) {
      const written = await setFields(server, token, { note: `${round}` });
      expect(written.status).toBe(200);
      token = written.body.resumeToken;
    }
    expect(tally(await replaying)).toEqual({ 200: 100 });
    expect((await replaysOf(server, submissionId)).map(({ replayNumber }) => replayNumber)).toEqual(upTo(100));
  });

  it(`[AUDIT-F4] of ${SUBMITS} simultaneous submits on one key one executes and the others replay`, async () => {
    const server = await start();
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const replies = await atOnce(SUBMITS, () => submit(server, resumeToken, "one-key"));
    expect(tally(replies)).toEqual({ 200: SUBMITS });
    expect(replies.filter(({ body }) => body._idempotent === false)).toHaveLength(1);
    expect(await eventsOf(server, submissionId, "types=submission.submitted")).toHaveLength(1);
    expect(await replaysOf(server, submissionId)).toHaveLength(SUBMITS - 1);
  });

  it("[AUDIT-F4] simultaneous replays at two instances on one PostgreSQL are all answered, each counted once", async () => {
    const database = await ownDatabase();
    const instances = [await startOn(database), await startOn(database)] as const;
    const [one] = instances;
    const { resumeToken, submissionId } = await created(one, "forms", { body: { initialFields: { name: "Ada" } } });
    expect((await submit(one, resumeToken, "everywhere")).status).toBe(200);
    const replies = await atOnce(200, (index) => submit(instances[index % 2 === 0 ? 0 : 1], resumeToken, "everywhere"));
    expect(tally(replies)).toEqual({ 200: 200 });
    expect((await replaysOf(one, submissionId)).map(({ replayNumber }) => replayNumber)).toEqual(upTo(200));
  });

  it(`[AUDIT-F4] [IDEMPOTENCY-WAITERS-LIMIT] of ${REPLAYS} simultaneous creates on a new key one executes and the others replay`, async () => {
    const server = await start();
    const { store, idempotency } = server.server.core.backend;
    const [commit, enter] = [store.commit.bind(store), idempotency.enter.bind(idempotency)];
    const latch = createLatch();
    closers.push(latch.open);
    let entered = 0;
    idempotency.enter = (...call) => {
      entered += 1;
      if (entered === REPLAYS) latch.open();
      return enter(...call);
    };
    store.commit = async (change) => {
      await latch.opened;
      return await commit(change);
    };
    const body = { idempotencyKey: idempotencyKey("brand-new"), initialFields: { name: "Ada" } };
    const replies = await atOnce(REPLAYS, () => create(server, "forms", { body }));
    expect(tally(replies)).toEqual({ 200: REPLAYS - 1, 201: 1 });
    expect(new Set(replies.map((reply) => reply.body.submissionId)).size).toBe(1);
  });
});

describe("a caller that waits for a key's holder", () => {
  const WAIT = { FORMBRIDGE_KEY_WAIT_MS: "300" };

  async function expectLocked(call: () => Promise<Reply>): Promise<void> {
    const began = performance.now();
    const reply = await call();
    expect(reply.status).toBe(503);
    expect(reply.body.error).toMatchObject({ type: "locked", retryable: true, retryAfterMs: expect.any(Number) });
    expect(performance.now() - began).toBeGreaterThan(290);
  }

  it.each(["memory", "sqlite", "postgres"] as const)("is locked after the full wait (%s)", async (store) => {
    const server = await start({ store, env: WAIT });
    const { resumeToken } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const { store: held } = server.server.core.backend;
    const commit = held.commit.bind(held);
    const latch = createLatch();
    closers.push(latch.open);
    let isHeld = false;
    held.commit = async (change) => {
      isHeld = true;
      await latch.opened;
      return await commit(change);
    };
    const holder = submit(server, resumeToken, "held");
    await until(() => isHeld || undefined);
    await expectLocked(() => submit(server, resumeToken, "held"));
    latch.open();
    expect((await holder).status).toBe(200);
    expect((await submit(server, resumeToken, "held")).body._idempotent).toBe(true);
  });

  it("[AUDIT-F5] is locked after the full wait when the holder is another instance, in PostgreSQL", async () => {
    const database = await ownDatabase();
    const server = await startOn(database, { ...WAIT, FORMBRIDGE_DATABASE_LOCK_TIMEOUT_MS: "20" });
    const { resumeToken } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const body = { idempotencyKey: idempotencyKey("elsewhere") };
    // Like a commit in flight: others can read records but not write them.
    await database.query("BEGIN");
    await database.query("LOCK TABLE formbridge.records IN SHARE ROW EXCLUSIVE MODE");
    await expectLocked(() => submit(server, resumeToken, "elsewhere"));
    await expectLocked(() => create(server, "forms", { body }));
    // Waiting callers continue when the holder is done.
    const patient = [submit(server, resumeToken, "elsewhere"), create(server, "forms", { body })];
    await database.query("ROLLBACK");
    expect((await Promise.all(patient)).map(({ status }) => status)).toEqual([200, 201]);
  });
});
