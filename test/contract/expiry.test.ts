import { afterEach, expect, it } from "vitest";
import { type ServerOptions, startTestServer, type TestServer } from "../support/harness.ts";
import { create, created, eventsOf, idempotencyKey, read, setFields, submit, typesOf } from "../support/moves.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
let server: TestServer;
afterEach(() => server.stop());

async function start(options: ServerOptions = {}): Promise<TestServer> {
  server = await startTestServer(options);
  await server.putIntake({ id: "forms" });
  return server;
}
const sweep = () => server.server.core.operations.sweep();
const short = { body: { ttlMs: MINUTE } };

it.each(["sqlite", "memory"] as const)(
  "[RUNNING-EXPIRY-LAZY] any access finds it expired, without a sweep (%s)",
  async (store) => {
    await start({ store });
    const looks = [
      async (made: Awaited<ReturnType<typeof created>>) =>
        (await read(server, made.submissionId, server.adminKey)).body.state,
      async (made: Awaited<ReturnType<typeof created>>) =>
        (await setFields(server, made.resumeToken, { name: "x" })).body.error.type,
      async (made: Awaited<ReturnType<typeof created>>) =>
        (await server.call("GET", `/resume/${made.resumeToken}`)).body.error.type,
      async (made: Awaited<ReturnType<typeof created>>) =>
        (await submit(server, made.resumeToken, "late")).body.error.type,
    ];
    const all = [];
    for (const _look of looks) all.push(await created(server, "forms", short));
    server.clock.advance(MINUTE + 30_000);
    for (const [index, look] of looks.entries()) expect(await look(all[index])).toBe("expired");
    for (const { submissionId } of all) {
      expect(typesOf(await eventsOf(server, submissionId, "")).at(-1)).toBe("submission.expired");
    }
  },
);

it("[RUNNING-EXPIRY-LAZY] a write that began in time is not written after it", async () => {
  await start();
  const made = await created(server, "forms", short);
  const { store } = server.server.core.backend;
  const { commit } = store;
  store.commit = (change) => {
    store.commit = commit;
    server.clock.advance(MINUTE + 30_000);
    return commit(change);
  };
  const late = await setFields(server, made.resumeToken, { name: "x" });
  expect([late.status, late.body.error?.type]).toEqual([410, "expired"]);
  expect(typesOf(await eventsOf(server, made.submissionId, ""))).toEqual(["submission.created", "submission.expired"]);
});

it("[RUNNING-EXPIRY-SKEW] clocks may differ by 30 seconds", async () => {
  await start();
  const made = await created(server, "forms", short);
  server.clock.advance(MINUTE + 29_999);
  await sweep();
  const inTime = await setFields(server, made.resumeToken, { name: "Ada" });
  expect(inTime.status).toBe(200);
  server.clock.advance(1);
  expect((await setFields(server, inTime.body.resumeToken, { name: "Grace" })).status).toBe(410);
});

it("[RUNNING-EXPIRY-SKEW] the tolerance is a setting", async () => {
  await start({ store: "memory", env: { FORMBRIDGE_CLOCK_SKEW_MS: "0" } });
  const made = await created(server, "forms", short);
  server.clock.advance(MINUTE);
  expect((await setFields(server, made.resumeToken, { name: "Ada" })).status).toBe(410);
});

it.each(["sqlite", "memory"] as const)(
  "[RUNNING-EXPIRY-SWEEP] a sweep takes a batch at a time, until nothing is due (%s)",
  async (store) => {
    await start({ store, env: { FORMBRIDGE_SWEEP_BATCH: "4" } });
    const due = [];
    for (let index = 0; index < 10; index++) due.push(await created(server, "forms", short));
    const later = await created(server, "forms");
    server.clock.advance(2 * MINUTE);
    const counts = [];
    for (let round = 0; round < 4; round++) counts.push((await sweep()).expired);
    expect(counts).toEqual([4, 4, 2, 0]);
    const expired = await server.call("GET", "/submissions?state=expired", { key: server.adminKey });
    expect(expired.body.items).toHaveLength(10);
    expect((await read(server, later.submissionId, server.adminKey)).body.state).toBe("draft");
  },
);

it("[RUNNING-EXPIRY-SWEEP] a server that stops does not wait for the rest of a sweep, which the next one does", async () => {
  await start({ env: { FORMBRIDGE_SWEEP_AT_ONCE: "2" } });
  for (let index = 0; index < 5; index++) await created(server, "forms", short);
  server.clock.advance(2 * MINUTE);
  const { store } = server.server.core.backend;
  const { commit } = store;
  const stopping = new AbortController();
  store.commit = (change) => {
    stopping.abort();
    return commit(change);
  };
  expect((await server.server.core.operations.sweep(stopping.signal)).expired).toBe(2);
  expect((await sweep()).expired).toBe(3);
});

it("[RUNNING-EXPIRY-SYSTEM] the expiry is done by the system, recorded with its time, one version higher", async () => {
  await start();
  const made = await created(server, "forms", short);
  const expiresAt = new Date(server.clock.now() + MINUTE).toISOString();
  server.clock.advance(2 * MINUTE);
  await sweep();
  await sweep();
  const record = (await read(server, made.submissionId, server.adminKey)).body;
  expect(record).toMatchObject({ state: "expired", version: 2, expiredAt: expiresAt });
  const told = await eventsOf(server, made.submissionId, "types=submission.expired");
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ actor: { kind: "system" }, state: "expired", version: 2, stream: "submission" });
});

it("[EVENTS-TTL-WARNING] at 80 % of the time, once, and not earlier", async () => {
  await start();
  const made = await created(server, "forms", { body: { ttlMs: 100 * MINUTE } });
  const warnings = () => eventsOf(server, made.submissionId, "types=submission.ttl_warning");
  server.clock.advance(80 * MINUTE - 1);
  await sweep();
  expect(await warnings()).toHaveLength(0);
  server.clock.advance(1000);
  for (let round = 0; round < 3; round++) await sweep();
  server.clock.advance(10 * MINUTE);
  await sweep();
  const told = await warnings();
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ stream: "submission", actor: { kind: "system" } });
  const { version, resumeToken } = (await read(server, made.submissionId, server.adminKey)).body;
  expect([version, resumeToken]).toEqual([1, made.resumeToken]);
});

it("[EVENTS-TTL-WARNING] what was submitted, cancelled or has expired is not warned", async () => {
  await start();
  await server.putIntake({ id: "reviewed", approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
  const body = { ttlMs: 100 * MINUTE, initialFields: { name: "Ada" } };
  const waiting = await created(server, "reviewed", { body });
  await submit(server, waiting.resumeToken, "waiting");
  const cancelled = await created(server, "forms", { body });
  await server.call("DELETE", `/resume/${cancelled.resumeToken}`);
  const expired = await created(server, "forms", { body });
  server.clock.advance(200 * MINUTE);
  await sweep();
  for (const { submissionId } of [waiting, cancelled, expired]) {
    expect(await eventsOf(server, submissionId, "types=submission.ttl_warning")).toHaveLength(0);
  }
});

it("[RUNNING-EXPIRY-ONLY-OPEN] what waits for a reviewer waits for as long as it takes", async () => {
  await start();
  await server.putIntake({ id: "reviewed", approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
  const made = await created(server, "reviewed", { body: { ttlMs: MINUTE, initialFields: { name: "Ada" } } });
  await submit(server, made.resumeToken, "waiting");
  server.clock.advance(400 * DAY);
  await sweep();
  expect((await read(server, made.submissionId, server.adminKey)).body.state).toBe("needs_review");
  const approved = await server.call("POST", `/submissions/${made.submissionId}/review`, {
    key: server.adminKey,
    body: { decision: "approved" },
  });
  expect(approved.body.state).toBe("finalized");
});

it("[RUNNING-EXPIRY-MEND] a rejection leaves a day, however late it comes", async () => {
  await start();
  await server.putIntake({ id: "reviewed", approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
  const made = await created(server, "reviewed", { body: { ttlMs: MINUTE, initialFields: { name: "Ada" } } });
  await submit(server, made.resumeToken, "late");
  server.clock.advance(10 * DAY);
  await server.call("POST", `/submissions/${made.submissionId}/review`, {
    key: server.adminKey,
    body: { decision: "rejected", reasons: ["no"] },
  });
  const record = (await read(server, made.submissionId, server.adminKey)).body;
  expect(record.ttl).toEqual({ expiresAt: new Date(server.clock.now() + DAY).toISOString(), remainingMs: DAY });
  server.clock.advance(DAY - 1);
  await sweep();
  expect((await setFields(server, record.resumeToken, { name: "Grace" })).status).toBe(200);
});

it.each(["sqlite", "memory"] as const)(
  "[RUNNING-CLEAN-UP] expired records are removed in batches, live ones stay (%s)",
  async (store) => {
    await start({ store, env: { FORMBRIDGE_SWEEP_BATCH: "3" } });
    const made = await created(server, "forms");
    let token: string = made.resumeToken;
    for (let index = 0; index < 7; index++) {
      const reply = await setFields(
        server,
        token,
        { note: String(index) },
        { body: { idempotencyKey: `old-${index}` } },
      );
      token = reply.body.resumeToken;
    }
    server.clock.advance(DAY);
    const live = { body: { idempotencyKey: idempotencyKey("live") } };
    await created(server, "forms", live);
    const counts = [];
    for (let round = 0; round < 4; round++) counts.push((await sweep()).records);
    expect(counts).toEqual([3, 3, 1, 0]);
    expect((await create(server, "forms", live)).status).toBe(200);
  },
);

it("[RUNNING-CLEAN-UP] stale tokens are remembered until their own expiry, then removed in batches", async () => {
  await start({ env: { FORMBRIDGE_SWEEP_BATCH: "2" } });
  await server.putIntake({ id: "hourly", tokens: { ttlMs: 60 * MINUTE } });
  const made = await created(server, "hourly", { body: { ttlMs: 365 * DAY } });
  const tokens: string[] = [made.resumeToken];
  for (let index = 0; index < 5; index++) {
    tokens.push((await setFields(server, tokens.at(-1) ?? "", { note: String(index) })).body.resumeToken);
  }
  server.clock.advance(59 * MINUTE);
  expect((await sweep()).tokens).toBe(0);
  expect((await setFields(server, tokens[0] ?? "", { note: "x" })).body.error.type).toBe("token_conflict");
  server.clock.advance(3 * MINUTE);
  expect((await setFields(server, tokens[5] ?? "", { note: "x" })).body.error.reason).toBe("ttl_elapsed");
  server.clock.advance(90 * DAY);
  const counts = [];
  for (let round = 0; round < 4; round++) counts.push((await sweep()).tokens);
  expect(counts).toEqual([2, 2, 1, 0]);
});

it("[AUDIT-F30] lists show overdue submissions as expired, and find them as such, before a sweep", async () => {
  await start();
  const [late, open, done] = [
    await created(server, "forms", short),
    await created(server, "forms"),
    await created(server, "forms", { body: { ttlMs: MINUTE, initialFields: { name: "Ada" } } }),
  ];
  await submit(server, done.resumeToken, "in-time");
  const list = async (query = ""): Promise<[string, string][]> => {
    const { body } = await server.call("GET", `/submissions${query}`, { key: server.adminKey });
    return body.items.map((item: { submissionId: string; state: string }) => [item.submissionId, item.state]);
  };
  const [isDone, isOpen] = [
    [done.submissionId, "finalized"],
    [open.submissionId, open.state],
  ];
  server.clock.advance(MINUTE + 29_999);
  expect(await list()).toEqual([isDone, isOpen, [late.submissionId, late.state]]);
  expect(await list("?state=expired")).toEqual([]);
  server.clock.advance(1);
  const isLate = [late.submissionId, "expired"];
  expect(await list()).toEqual([isDone, isOpen, isLate]);
  expect(await list("?state=expired")).toEqual([isLate]);
  expect(await list(`?state=${late.state}`)).toEqual([isOpen]);
  expect(await list("?state=finalized")).toEqual([isDone]);
  const by = { id: late.submissionId, tenant: "default" };
  const stored = await server.server.core.backend.store.load({ by });
  expect(stored.submission?.submission.state).toBe(late.state);
  await sweep();
  expect(await list("?state=expired")).toEqual([isLate]);
  expect(await list(`?state=${late.state}`)).toEqual([isOpen]);
});
