import { afterEach, describe, expect, it } from "vitest";
import { runCommand, tempFolder } from "../support/child.ts";
import { handOff, inLink } from "../support/handoffs.ts";
import { type Loose, type ServerOptions, startTestServer, type TestServer } from "../support/harness.ts";
import {
  create,
  created,
  eventsOf,
  HUMAN,
  idempotencyKey,
  read,
  setFields,
  submit,
  typesOf,
} from "../support/moves.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SECRET = "Zanzibar";
const retention = { deleteAfterMs: 30 * DAY };
let server: TestServer;
afterEach(() => server.stop());

async function start(options: ServerOptions = {}): Promise<void> {
  server = await startTestServer(options);
  await server.putIntake({ id: "forms", retention });
}
const sweep = () => server.server.core.operations.sweep();
const byId = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const fields = { name: SECRET, note: `note of ${SECRET}` };
const actor = { ...HUMAN, id: SECRET, name: `Dr. ${SECRET}` };

/** Finalized, with everything that can identify a person. */
async function finalized(intakeId = "forms"): Promise<Loose> {
  const key = idempotencyKey(`made-${crypto.randomUUID()}`);
  const made = await created(server, intakeId, { body: { actor, initialFields: fields, idempotencyKey: key } });
  const { url } = await handOff(server, made.resumeToken);
  const set = await setFields(server, made.resumeToken, { note: `${SECRET}!` }, { body: { actor } });
  await server.call("GET", `/resume/${set.body.resumeToken}`);
  const done = await submit(server, set.body.resumeToken, crypto.randomUUID(), { body: { actor } });
  expect(done.body.state).toBe("finalized");
  await server.server.core.operations.flushAudit();
  return { ...done.body, key, session: inLink(url), tokens: [made.resumeToken, done.body.resumeToken] };
}

const erase = (id: string, key = server.adminKey) => server.call("POST", `/submissions/${id}/erase`, { key, body: {} });

describe.each(["memory", undefined] as const)("on %s", (store) => {
  const options: ServerOptions = store === undefined ? {} : { store };

  it("[RETENTION-ERASES] [RETENTION-READS] nothing about a person is left after the retention period of its intake", async () => {
    await start(options);
    const { submissionId, tokens, session, version } = await finalized();
    const before = await byId(submissionId);
    server.clock.advance(30 * DAY);
    expect((await sweep()).erased).toBe(0);
    server.clock.advance(1);
    expect((await sweep()).erased).toBe(1);
    expect((await sweep()).erased).toBe(0);
    const record = await byId(submissionId);
    expect(record).toEqual({
      ok: true,
      submissionId,
      state: "finalized",
      version,
      intakeId: "forms",
      intakeVersion: "1",
      createdAt: before.createdAt,
      updatedAt: before.updatedAt,
      originalTimestamp: before.originalTimestamp,
      createdBy: { kind: "human", id: "erased" },
      lastUpdatedBy: { kind: "human", id: "erased" },
      replayCount: 0,
      submittedAt: before.submittedAt,
      finalizedAt: before.finalizedAt,
      erasedAt: new Date(server.clock.now()).toISOString(),
    });
    for (const token of tokens) {
      const reply = await server.call("GET", `/resume/${token}`);
      expect([reply.status, reply.body.error.type]).toEqual([404, "token_invalid"]);
    }
    const opened = await server.call("GET", `/submissions/${submissionId}`, {
      headers: { authorization: `Bearer ${session}` },
    });
    expect(opened.status).toBe(404);
    const list = await server.call("GET", "/submissions?fields=true", { key: server.adminKey });
    expect(list.body.items).toMatchObject([{ submissionId, state: "finalized", erasedAt: record.erasedAt }]);
    const feed = await server.call("GET", "/events?stream=all&limit=1000", { key: server.adminKey });
    expect(JSON.stringify([record, list.body, feed.body, await eventsOf(server, submissionId)])).not.toContain(SECRET);
  });

  it("[RETENTION-CHAIN] the history verifies as before, and ends with the erasure", async () => {
    await start(options);
    const { submissionId } = await finalized();
    const before = await eventsOf(server, submissionId, "stream=all&proof=true&limit=1000");
    server.clock.advance(31 * DAY);
    await sweep();
    const after = await eventsOf(server, submissionId, "stream=all&proof=true&limit=1000");
    const last = after.pop();
    expect(last).toMatchObject({
      type: "submission.erased",
      actor: { kind: "system", id: "retention" },
      payload: {},
      prevHash: before.filter(({ stream }) => stream === "submission").at(-1).hash,
    });
    const bare = (event: Loose) => ({
      ...event,
      actor: null,
      payload: null,
      proof: { ...event.proof, actorSalt: null, payloadSalt: null },
    });
    expect(after).toEqual(before.map(bare));
  });

  it("[RETENTION-KEYS] the keys of an erased submission stay taken, and reveal nothing", async () => {
    await start(options);
    await server.putIntake({ id: "brief", retention: { deleteAfterMs: 1000 } });
    const { submissionId, key } = await finalized("brief");
    server.clock.advance(1001);
    expect((await sweep()).erased).toBe(1);
    for (const initialFields of [fields, { name: "another" }]) {
      const retry = await create(server, "brief", { body: { actor, initialFields, idempotencyKey: key } });
      expect([retry.status, retry.body.error.type]).toEqual([409, "conflict"]);
      expect(JSON.stringify(retry.body)).not.toContain(submissionId);
    }
    const list = await server.call("GET", "/submissions?intakeId=brief", { key: server.adminKey });
    expect(list.body.items).toHaveLength(1);
  });

  it("[RETENTION-EVENTS] the bare history stays 90 days after its last event; then nothing is left", async () => {
    await start(options);
    const { submissionId } = await finalized();
    const stays = await created(server, "forms", { body: { ttlMs: 365 * DAY } });
    server.clock.advance(31 * DAY);
    await sweep();
    server.clock.advance(90 * DAY);
    expect((await sweep()).removed).toBe(0);
    expect(typesOf(await eventsOf(server, submissionId)).at(-1)).toBe("submission.erased");
    server.clock.advance(1);
    expect((await sweep()).removed).toBe(1);
    expect((await read(server, submissionId, server.adminKey)).status).toBe(404);
    const feed = await server.call("GET", "/events?stream=all&limit=1000", { key: server.adminKey });
    expect([...new Set(feed.body.items.map((event: Loose) => event.submissionId))]).toEqual([stays.submissionId]);
  });

  it("[RETENTION-TERM] each by the definition it was created with; by default it is kept", async () => {
    await start(options);
    await server.putIntake({ id: "kept" });
    const kept = await finalized("kept");
    const slow = await finalized();
    await server.putIntake({ id: "forms", version: "2", retention: { deleteAfterMs: DAY } });
    const fast = await finalized();
    server.clock.advance(2 * DAY);
    expect((await sweep()).erased).toBe(1);
    expect(await byId(fast.submissionId)).toHaveProperty("erasedAt");
    server.clock.advance(30 * DAY);
    expect((await sweep()).erased).toBe(1);
    expect(await byId(slow.submissionId)).toHaveProperty("erasedAt");
    server.clock.advance(3650 * DAY);
    await sweep();
    expect((await byId(kept.submissionId)).fields.name).toBe(SECRET);
  });

  it("[RETENTION-TERM] a setting applies to intakes without their own, and to their old submissions", async () => {
    await start({ ...options, env: { FORMBRIDGE_RETENTION_MS: String(10 * DAY) } });
    await server.putIntake({ id: "silent" });
    const silent = await finalized("silent");
    const told = await finalized();
    server.clock.advance(11 * DAY);
    expect((await sweep()).erased).toBe(1);
    expect(await byId(silent.submissionId)).toHaveProperty("erasedAt");
    expect(await byId(told.submissionId)).not.toHaveProperty("erasedAt");
  });

  it("[RETENTION-ONLY-ENDED] what was cancelled or has expired is erased; what is open or waits for review is not", async () => {
    await start(options);
    await server.putIntake({ id: "reviewed", retention, approvalGates: [{ name: "check", reviewers: {} }] });
    const body = { initialFields: fields };
    const waiting = await created(server, "reviewed", { body });
    await submit(server, waiting.resumeToken, "waiting");
    const open = await created(server, "forms", { body: { ...body, ttlMs: 365 * DAY } });
    const cancelled = await created(server, "forms", { body });
    await server.call("DELETE", `/resume/${cancelled.resumeToken}`, { body: { reason: `${SECRET} left` } });
    const expired = await created(server, "forms", { body: { ...body, ttlMs: HOUR } });
    server.clock.advance(100 * DAY);
    const swept = await sweep();
    expect(swept).toMatchObject({ expired: 1, erased: 2 });
    for (const { submissionId } of [waiting, open]) {
      expect((await byId(submissionId)).fields.name).toBe(SECRET);
      expect((await erase(submissionId)).body.error).toMatchObject({ type: "conflict" });
    }
    for (const { submissionId } of [cancelled, expired]) {
      expect(JSON.stringify([await byId(submissionId), await eventsOf(server, submissionId)])).not.toContain(SECRET);
    }
  });

  it("[RETENTION-REQUEST] an admin erases one at once, and can repeat it", async () => {
    await start(options);
    const { submissionId, version, tokens } = await finalized();
    const first = await erase(submissionId);
    const erasedAt = new Date(server.clock.now()).toISOString();
    expect(first.status).toBe(200);
    expect(first.body).toEqual({ ok: true, submissionId, state: "finalized", version, erasedAt });
    server.clock.advance(HOUR);
    expect((await erase(submissionId)).body).toEqual(first.body);
    expect((await eventsOf(server, submissionId)).at(-1)).toMatchObject({
      type: "submission.erased",
      actor: { kind: "human", id: "admin" },
    });
    expect((await server.call("GET", `/resume/${tokens[1]}`)).status).toBe(404);
    for (const write of ["tokens/reissue", "deliveries/retry"]) {
      const reply = await server.call("POST", `/submissions/${submissionId}/${write}`, {
        key: server.adminKey,
        body: {},
      });
      expect(reply.status).toBe(410);
    }
  });

  it("[RETENTION-REQUEST] one that names another version is refused, and nothing is erased", async () => {
    await start(options);
    const { submissionId, version } = await finalized();
    const eraseAt = (headers: Record<string, string>) =>
      server.call("POST", `/submissions/${submissionId}/erase`, { key: server.adminKey, headers, body: {} });
    for (const headers of [{ "x-intake-version": "0" }, { "if-match": `"${version + 1}"` }]) {
      const { status, body } = await eraseAt(headers as Record<string, string>);
      expect([status, body.error.type, body.version]).toEqual([409, "token_conflict", version]);
    }
    expect((await byId(submissionId)).erasedAt).toBeUndefined();
    const named = await eraseAt({ "x-intake-version": String(version) });
    expect(named.status).toBe(200);
  });

  it("[RETENTION-REQUEST-ADMIN] others are refused, and nothing is erased", async () => {
    await start(options);
    const agent = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
    const viewer = await server.makeKey({ roles: ["viewer", "reviewer"], actor: { kind: "human", id: "eve" } });
    const foreign = await server.makeKey({
      roles: ["admin"],
      actor: { kind: "human", id: "mallory" },
      tenant: "other",
    });
    const elsewhere = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "bob" }, intakes: ["x"] });
    const own = await created(server, "forms", { key: agent, body: { initialFields: fields } });
    await server.call("DELETE", `/resume/${own.resumeToken}`);
    const { submissionId } = own;
    expect((await erase(submissionId, agent)).status).toBe(403);
    expect((await erase(submissionId, viewer)).status).toBe(403);
    expect((await erase(submissionId, foreign)).status).toBe(404);
    expect((await erase(submissionId, elsewhere)).status).toBe(404);
    expect((await server.call("POST", `/submissions/${submissionId}/erase`, { body: {} })).status).toBe(401);
    const { resumeToken } = await byId(submissionId);
    expect((await server.call("POST", `/submissions/${resumeToken}/erase`, { body: {} })).status).toBe(403);
    expect((await byId(submissionId)).fields.name).toBe(SECRET);
    expect((await erase("sub_01900000-0000-7000-8000-000000000000")).status).toBe(404);
  });
});

it("[RETENTION-ERASES] a read in progress when it was erased is not recorded afterwards", async () => {
  await start();
  const { submissionId, tokens } = await finalized();
  await server.call("GET", `/resume/${tokens[1]}`);
  await erase(submissionId);
  await server.server.core.operations.flushAudit();
  expect(typesOf(await eventsOf(server, submissionId)).at(-1)).toBe("submission.erased");
});

it("[RETENTION-ERASES] a sweep takes a batch at a time, until nothing is due", async () => {
  await start({ env: { FORMBRIDGE_SWEEP_BATCH: "4", FORMBRIDGE_SWEEP_AT_ONCE: "3" } });
  for (let made = 0; made < 9; made++) {
    const { resumeToken } = await created(server, "forms");
    await server.call("DELETE", `/resume/${resumeToken}`);
  }
  server.clock.advance(31 * DAY);
  const counts = [];
  for (let round = 0; round < 4; round++) counts.push((await sweep()).erased);
  expect(counts).toEqual([4, 4, 1, 0]);
  server.clock.advance(91 * DAY);
  const removed = [];
  for (let round = 0; round < 4; round++) removed.push((await sweep()).removed);
  expect(removed).toEqual([4, 4, 1, 0]);
});

it("[RETENTION-CHAIN] the command that verifies histories finds nothing wrong", async () => {
  const folder = tempFolder();
  await start({ store: "sqlite", env: { FORMBRIDGE_DATA: folder.path } });
  const { submissionId } = await finalized();
  await erase(submissionId);
  const verified = await runCommand(["verify", submissionId], { FORMBRIDGE_DATA: folder.path });
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("1 verified") });
  folder.remove();
});
