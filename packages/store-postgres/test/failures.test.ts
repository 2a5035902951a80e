import { fixtures } from "@formbridge/conformance";
import { type Backend, StoreDown } from "@formbridge/core";
import { openPostgresBackend } from "@formbridge/store-postgres";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createMigratedDatabase, type TestDatabase } from "../../../test/support/services/postgres.ts";
import { commitOn, optionsFor } from "./open.ts";

const { creation, update, quietUpdate, keyWrite, newHash, TENANT, INTAKE, HOUR } = fixtures;

let database: TestDatabase;
let backend: Backend;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  backend = await openPostgresBackend({ ...optionsFor(database.url), poolSize: 2, lockTimeoutMs: 300 });
});
afterEach(() => backend.close());

/** Holds the locks of the given statements until it ends. */
async function holding(work: (client: Client) => Promise<unknown>) {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("BEGIN");
  await work(client);
  return {
    async end(how: "COMMIT" | "ROLLBACK" = "ROLLBACK") {
      await client.query(how);
      await client.end();
    },
  };
}

const lockRow = (submissionId: string) =>
  holding((client) =>
    client.query("SELECT 1 FROM formbridge.submissions WHERE submission_id = $1 FOR UPDATE", [submissionId]),
  );

const OURS = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'formbridge'";
const waiting = () =>
  vi.waitFor(async () => {
    const rows = await database.query(`SELECT 1 ${OURS} AND wait_event_type = 'Lock'`);
    expect(rows).toHaveLength(1);
  });
const terminate = () => database.query(`SELECT pg_terminate_backend(pid) ${OURS}`);

async function failureOf(call: Promise<unknown>): Promise<StoreDown> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StoreDown)) throw new Error(`not a StoreDown: ${String(error)}`);
  return error;
}

describe("a connection that is lost", () => {
  it("in the middle of a commit leaves the outcome unknown, and the next commit succeeds", async () => {
    const first = creation({ at: 0 });
    await backend.store.commit(first);
    const holder = await lockRow(first.row.submission.submissionId);
    const cut = failureOf(backend.store.commit(update(first, 0)));
    await waiting();
    await terminate();
    expect((await cut).outcome).toBe("unknown");
    await holder.end();
    expect(await backend.store.commit(update(first, 0))).toMatchObject({ kind: "committed" });
  });

  it("while idle is noticed, and fails no call", async () => {
    await backend.store.load({ by: { intake: "nothing" } });
    await terminate();
    await vi.waitFor(async () => expect(await database.query(`SELECT 1 ${OURS}`)).toEqual([]));
    await vi.waitFor(() => backend.store.load({ by: { intake: "nothing" } }));
    expect(await backend.store.commit(creation({ at: 0 }))).toMatchObject({ kind: "committed" });
  });

  it("in the middle of a read is a StoreDown that changed nothing", async () => {
    const holder = await holding((client) => client.query("LOCK TABLE formbridge.intakes IN ACCESS EXCLUSIVE MODE"));
    const cut = failureOf(backend.store.load({ by: { intake: "nothing" } }));
    await waiting();
    await terminate();
    expect((await cut).outcome).toBe("not_applied");
    await holder.end();
  });
});

describe("a write that waits too long", () => {
  it("for a row gives up, and nothing was applied", async () => {
    const first = creation({ at: 0 });
    await backend.store.commit(first);
    const holder = await lockRow(first.row.submission.submissionId);
    const { outcome, message } = await failureOf(backend.store.commit(update(first, 0)));
    expect([outcome, message]).toEqual(["not_applied", "another write holds a lock that this one needs"]);
    await holder.end();
    expect(await backend.store.commit(update(first, 0))).toMatchObject({ kind: "committed" });
  });

  it("for a key times out, and the holder's record counts", async () => {
    const key = keyWrite({ expiresAt: Date.now() + HOUR });
    const held = creation({ at: 0 }, { key });
    const holder = await holding((client) => commitOn(client, held));
    const rival = creation({ at: 0 }, { key });
    expect((await failureOf(backend.store.commit(rival))).outcome).toBe("not_applied");
    await holder.end();
    expect(await backend.store.commit(rival)).toMatchObject({ kind: "committed" });
  });

  it("past its deadline is too late, even if the row is free in the end", async () => {
    const patient = await openPostgresBackend({ ...optionsFor(database.url), poolSize: 1 });
    const first = creation({ at: 0 });
    await patient.store.commit(first);
    const holder = await lockRow(first.row.submission.submissionId);
    const now = await patient.deadlines.now();
    const notAfter = now + 200;
    const late = patient.store.commit(update(first, 0, { expect: { revision: 1, notAfter } }));
    await waiting();
    await vi.waitFor(async () => expect(await backend.deadlines.now()).toBeGreaterThan(notAfter));
    await holder.end();
    const answer = await late;
    expect(answer).toMatchObject({ kind: "too_late" });
    expect(answer.kind === "too_late" && answer.now > notAfter).toBe(true);
    const { submission } = await patient.store.load({ by: { id: first.row.submission.submissionId, tenant: TENANT } });
    expect(submission?.submission.revision).toBe(1);
    await patient.close();
  });
});

describe("a write that waits for its key past its deadline", () => {
  it("is too late, and leaves no record", async () => {
    const patient = await openPostgresBackend({ ...optionsFor(database.url), poolSize: 2 });
    const key = keyWrite({ ref: { operation: "submit", hash: newHash() }, expiresAt: Date.now() + HOUR });
    const first = creation({ at: 0 });
    await patient.store.commit(first);
    const holder = await holding((client) => commitOn(client, creation({ at: 0 }, { key })));
    const notAfter = (await patient.deadlines.now()) + 200;
    const late = patient.store.commit(update(first, 0, { key, expect: { revision: 1, notAfter } }));
    await waiting();
    await vi.waitFor(async () => expect(await backend.deadlines.now()).toBeGreaterThan(notAfter));
    await holder.end();
    expect(await late).toMatchObject({ kind: "too_late" });
    expect(await patient.idempotency.find({ tenant: TENANT, intakeId: INTAKE, ...key.ref })).toBeUndefined();
    await patient.close();
  });
});

describe("a write that waits for a faster one on its revision", () => {
  it("is stale, even without a token that could collide", async () => {
    const patient = await openPostgresBackend({ ...optionsFor(database.url), poolSize: 1 });
    const first = creation({ at: 0 });
    await patient.store.commit(first);
    const faster = quietUpdate(first, 0);
    const holder = await holding((client) => commitOn(client, faster));
    const slower = patient.store.commit(quietUpdate(first, 0));
    await waiting();
    await holder.end("COMMIT");
    expect(await slower).toMatchObject({
      kind: "stale",
      loaded: { submission: { submission: faster.row.submission } },
    });
    await patient.close();
  });
});

describe("a database that is unavailable", () => {
  it("refuses the start with its reason", async () => {
    const url = new URL(database.url);
    url.pathname = "/nowhere";
    await expect(openPostgresBackend(optionsFor(url.href))).rejects.toThrow('database "nowhere" does not exist');
  });

  it("is a StoreDown for each call, nothing applied, and unhealthy without throwing", async () => {
    const own = await createMigratedDatabase();
    const lost = await openPostgresBackend(optionsFor(own.url));
    await own.drop();
    expect((await failureOf(lost.store.commit(creation({ at: 0 })))).outcome).toBe("not_applied");
    expect((await failureOf(lost.store.load({ by: { intake: "nothing" } }))).outcome).toBe("not_applied");
    expect(await lost.tokens.health()).toMatchObject({ healthy: false, detail: expect.stringContaining("exist") });
    await lost.close();
  });
});

describe("text that the database can't hold", () => {
  it("is not found in lookups, and is stored where callers choose it", async () => {
    expect(await backend.store.load({ by: { intake: "a\0b" } })).toEqual({ now: expect.any(Number) });
    const createdBy = { kind: "agent" as const, id: "nul\0 and half \ud800" };
    const change = creation({ at: 0, createdBy });
    change.key = keyWrite({ expiresAt: Date.now() + HOUR, principal: `actor:agent:${createdBy.id}` });
    expect(await backend.store.commit(change)).toMatchObject({ kind: "committed" });
    expect(await backend.submissions.list({ tenant: TENANT, createdById: createdBy.id }, { limit: 10 })).toEqual([
      change.row,
    ]);
    const by = { id: change.row.submission.submissionId, tenant: TENANT };
    expect((await backend.store.load({ by, key: change.key.ref })).record?.principal).toBe(change.key.principal);
  });
});
