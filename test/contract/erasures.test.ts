import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StoreDown } from "@formbridge/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { everythingStored } from "../support/at-rest.ts";
import { runCommand } from "../support/child.ts";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, type ServerOptions, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, eventsOf, expectRefusal, idempotencyKey, read, submit } from "../support/moves.ts";
import { gated, reviewerKey, submitted } from "../support/reviews.ts";
import { FILES_SCHEMA, filesAtRest, PDF, send } from "../support/uploads.ts";

const CANARY = "Zanzibar";
const ADA = { kind: "human", id: `${CANARY}-id` } as const;
const NAMED = { ...ADA, name: `Dr. ${CANARY}`, metadata: { email: `${CANARY}@example.com` } };
const headers = { "user-agent": `${CANARY}-Browser/1` };

let server: TestServer;
async function start(options: ServerOptions = {}): Promise<void> {
  server = await startTestServer(options);
  onTestFinished(server.stop);
}

async function erase(request: Loose = {}, key = server.adminKey): Promise<Loose> {
  const pages: Loose[] = [];
  for (let pageToken: string | undefined; ; ) {
    const body = { actor: ADA, ...request, ...(pageToken !== undefined && { pageToken }) };
    const reply = await server.call("POST", "/erasures", { key, body });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(JSON.stringify(reply.body)).not.toContain(CANARY);
    pages.push(reply.body);
    pageToken = reply.body.nextPageToken;
    expect(reply.body.done).toBe(pageToken === undefined);
    if (pageToken === undefined) break;
  }
  return pages.map(({ report }) => report).reduce(add);
}
const add = (one: Loose, other: Loose): Loose =>
  Object.fromEntries(
    Object.entries(one).map(([name, value]) => {
      if (typeof value === "number") return [name, value + other[name]];
      return [name, Array.isArray(value) ? [...value, ...other[name]] : value];
    }),
  );
const NOTHING = { submissions: 0, cancelled: 0, redacted: 0, events: 0, files: 0, archives: 0, keys: 0, waiting: [] };

const record = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;

/** Created by Ada, in a state that has not ended. */
async function own(): Promise<Loose> {
  const key = idempotencyKey(crypto.randomUUID());
  const body = { actor: NAMED, initialFields: { name: CANARY }, idempotencyKey: key };
  const made = await created(server, "files", { body, headers });
  await handOff(server, made.resumeToken, { kind: "session" });
  return { ...made, key };
}

/** Created by an agent. Ada works in it through a link, sends a file and a value, and reads with the bare token. */
async function shared(): Promise<Loose> {
  const made = await created(server, "files", { body: { initialFields: { name: "by the agent" } } });
  const handoff = await handOff(server, made.resumeToken, { allowedActors: [NAMED] });
  const ada = await visit(server, handoff, NAMED);
  const set = await ada.call("PATCH", "/fields", { headers, body: { fields: { note: "entered by ada" }, version: 1 } });
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  const file = { field: "pdf", filename: `${CANARY}.pdf`, mimeType: "application/pdf", sizeBytes: PDF.length };
  const signed = await ada.call("POST", "/uploads", { headers, body: { ...file, version: set.body.version } });
  expect(signed.status, JSON.stringify(signed.body)).toBe(200);
  await send(signed.body, PDF);
  const { uploadId, version } = signed.body;
  const confirmed = await ada.call("POST", `/uploads/${uploadId}/confirm`, { headers, body: { version } });
  expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200);
  const { submissionId } = made;
  const { resumeToken } = await record(submissionId);
  await server.call("GET", `/resume/${resumeToken}`, { headers });
  return { submissionId, resumeToken, uploadId };
}
const finish = async ({ resumeToken }: Loose): Promise<void> => {
  expect((await submit(server, resumeToken, crypto.randomUUID())).body.state).toBe("finalized");
};

/** Rejected by Ada with reasons, then cancelled by the agent. */
async function rejected(): Promise<string> {
  const gate = { name: "legal", reviewers: { roles: ["reviewer"] } };
  const intake = await gated(server, [gate as never]);
  const { submissionId } = await submitted(server, intake);
  const key = await server.makeKey({ roles: ["reviewer"], actor: NAMED });
  const body = { decision: "rejected", reasons: [`${CANARY} says no`], fieldReasons: { name: CANARY } };
  const reply = await server.call("POST", `/submissions/${submissionId}/review`, { key, body, headers });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const cancelled = await server.call("DELETE", `/submissions/${submissionId}`, { key: server.adminKey, body: {} });
  expect(cancelled.status).toBe(200);
  return submissionId;
}

const SCHEMA = { ...FILES_SCHEMA, properties: { ...(FILES_SCHEMA as Loose).properties, name: {}, note: {} } };

describe.each(["memory", undefined] as const)("on %s", (store) => {
  const options: ServerOptions = store === undefined ? {} : { store };

  it("[ERASURE-ACTOR] nothing stored names the person, all chains verify, and a second run finds nothing", async () => {
    await start(options);
    const oai = { set: true, dc: { title: "name" }, fields: ["note", "pdf"] };
    await server.putIntake({ id: "files", schema: SCHEMA as never, oai });
    const mine = await own();
    const theirs = await shared();
    await finish(theirs);
    const reviewed = await rejected();
    const bystander = await created(server, "files", { body: { initialFields: { name: "bystander" } } });
    await server.server.core.operations.flushAudit();
    if (store !== "memory") expect(await everythingStored(server)).toContain(CANARY);
    expect(filesAtRest(server)).not.toEqual([]);
    const before = await eventsOf(server, theirs.submissionId, "stream=all&proof=true&limit=1000");

    const counted = await erase({ dryRun: true });
    expect(counted).toMatchObject({
      scanned: 4,
      submissions: 1,
      cancelled: 1,
      redacted: 2,
      files: 1,
      keys: 1,
      waiting: [],
      failed: [],
    });
    expect(await record(mine.submissionId)).toMatchObject({ state: "in_progress", createdBy: { id: ADA.id } });
    expect(await erase({ limit: 1 })).toEqual(counted);
    expect(counted.valuesKept).toEqual([theirs.submissionId]);

    expect(await record(mine.submissionId)).toMatchObject({ state: "cancelled", erasedAt: expect.any(String) });
    const redacted = await record(theirs.submissionId);
    expect(redacted).toMatchObject({
      state: "finalized",
      fields: { name: "by the agent", note: "entered by ada" },
      createdBy: AGENT,
    });
    expect(redacted.fields).not.toHaveProperty("pdf");
    expect((await record(reviewed)).rejections).toMatchObject([{ reasons: [], by: { kind: "human", id: "erased" } }]);
    expect(await record(bystander.submissionId)).toMatchObject({ fields: { name: "bystander" } });
    expect(filesAtRest(server)).toEqual([]);
    const all = [
      await record(reviewed),
      redacted,
      ...(await eventsOf(server, reviewed)),
      await everythingStored(server),
    ];
    expect(JSON.stringify(all)).not.toContain(CANARY);

    const after = await eventsOf(server, theirs.submissionId, "stream=all&proof=true&limit=1000");
    const envelope = ({
      actor: _a,
      payload: _p,
      proof: { actorSalt: _s, payloadSalt: _t, ...proof },
      ...rest
    }: Loose) => ({ ...rest, proof });
    expect(after.slice(0, -1).map(envelope)).toEqual(before.map(envelope));
    expect(after.at(-1)).toMatchObject({
      type: "submission.redacted",
      payload: {},
      actor: { kind: "human", id: "admin" },
    });
    const agents = before.filter(({ actor }) => actor.id === AGENT.id).map(({ eventId }) => eventId);
    expect(after.filter(({ actor }) => actor?.id === AGENT.id).map(({ eventId }) => eventId)).toEqual(agents);

    expect(await erase()).toMatchObject({ scanned: 4, ...NOTHING, failed: [] });
    const retry = { actor: NAMED, initialFields: { name: CANARY }, idempotencyKey: mine.key };
    expectRefusal(await create(server, "files", { body: retry, headers }), 409, "conflict");
  });

  it("[ERASURE-WAITS] another's submission that has not ended keeps its names until it has", async () => {
    await start(options);
    await server.putIntake({ id: "files", schema: SCHEMA as never });
    const theirs = await shared();
    const report = await erase();
    expect(report).toMatchObject({ ...NOTHING, waiting: [theirs.submissionId] });
    expect((await record(theirs.submissionId)).lastUpdatedBy).toMatchObject(NAMED);
    expect(filesAtRest(server)).not.toEqual([]);
    await finish(theirs);
    expect(await erase()).toMatchObject({ redacted: 1, files: 1, waiting: [] });
    await server.server.core.operations.flushAudit();
    expect(await everythingStored(server)).not.toContain(CANARY);
  });
});

it("[ERASURE-TENANT] an actor with the same id in another tenant, or of the other kind, is somebody else", async () => {
  await start();
  const key = await server.makeKey({ roles: ["admin"], actor: AGENT, tenant: "other" });
  await server.putIntake({ id: "files" });
  await server.putIntake({ id: "elsewhere" }, key);
  const body = { actor: NAMED, initialFields: { name: "kept" } };
  const there = await created(server, "elsewhere", { body });
  const here = await created(server, "files", { body });
  const agent = await created(server, "files", { body: { ...body, actor: { kind: "agent", id: ADA.id } } });
  expect(await erase()).toMatchObject({ scanned: 2, submissions: 1 });
  expect((await read(server, there.submissionId, key)).body).toMatchObject({
    createdBy: { id: ADA.id },
    fields: { name: "kept" },
  });
  expect(await record(agent.submissionId)).toMatchObject({ fields: { name: "kept" } });
  expect((await record(here.submissionId)).erasedAt).toBeDefined();
  expect(await erase({ actor: { id: ADA.id } })).toMatchObject({ submissions: 1 });
});

it("[ERASURE-ADMIN] only an admin of all intakes can erase, and placeholders for nobody can't be erased", async () => {
  await start();
  await server.putIntake({ id: "files" });
  const body = { actor: ADA };
  const limited = await server.makeKey({ roles: ["admin"], actor: AGENT, intakes: ["files"] });
  const reviewer = await reviewerKey(server, "rosa");
  for (const key of [limited, reviewer])
    expectRefusal(await server.call("POST", "/erasures", { key, body }), 403, "forbidden");
  expectRefusal(await server.call("POST", "/erasures", { body }), 401, "unauthorized");
  for (const id of ["erased", "token_bearer"]) {
    const reply = await server.call("POST", "/erasures", { key: server.adminKey, body: { actor: { id } } });
    expectRefusal(reply, 400, "bad_request");
  }
  const first = await server.call("POST", "/erasures", { key: server.adminKey, body: { ...body, dryRun: true } });
  const pageToken = first.body.nextPageToken;
  expect(Buffer.from(pageToken.split(".")[1], "base64url").toString()).not.toContain(CANARY);
  const other = await server.call("POST", "/erasures", { key: server.adminKey, body: { ...body, pageToken } });
  expectRefusal(other, 400, "bad_request");
});

it("[ERASURE-CONFIGURED] keys of the person are revoked; what names them in the configuration is reported", async () => {
  await start();
  const intake = await gated(server, [{ name: "legal", reviewers: { ids: [ADA.id, "rosa"] } } as never]);
  const key = await server.makeKey({ roles: ["admin"], actor: NAMED });
  const acting = await server.makeKey({ roles: ["agent"], actor: AGENT, actsFor: [ADA.id] });
  const report = await erase();
  expect(report).toMatchObject({ keys: 1, configured: { intakes: [intake] } });
  expect(report.configured.keys).toHaveLength(1);
  expect((await server.call("GET", "/keys", { key })).status).toBe(401);
  expect((await create(server, intake, { key: acting })).status).toBe(201);
});

it("[ERASURE-ARCHIVE] archived documents are removed, or lose what names the person", async () => {
  await start();
  await server.putIntake({ id: "files", schema: SCHEMA as never, retention: { deleteAfterMs: 1000, archive: true } });
  const mine = await own();
  await server.call("DELETE", `/resume/${mine.resumeToken}`, { body: { actor: NAMED } });
  const theirs = await shared();
  await finish(theirs);
  await server.server.core.operations.flushAudit();
  server.clock.advance(1001);
  expect((await server.server.core.operations.sweep()).erased).toBe(2);
  const folder = join(server.folder, "archive", "default", "files");
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await erase({ dryRun: true })).toMatchObject({ archives: 2, redacted: 0, submissions: 0 });
  expect(await erase({ limit: 1 })).toMatchObject({ archives: 2 });
  expect(readdirSync(folder)).toEqual([`${theirs.submissionId}.json`]);
  const document = JSON.parse(readFileSync(join(folder, `${theirs.submissionId}.json`), "utf8"));
  expect(JSON.stringify(document)).not.toContain(CANARY);
  expect(document.submission.fields).toEqual({ name: "by the agent", note: "entered by ada" });
  expect(document.files).toEqual([]);
  expect(await erase()).toMatchObject(NOTHING);
});

it("[ERASURE-AGAIN] an erasure that died half-way is completed by running it again", async () => {
  await start();
  await server.putIntake({ id: "files", schema: SCHEMA as never });
  const theirs = await shared();
  await finish(theirs);
  await own();
  const { store } = server.server.core.backend;
  const commit = store.commit;
  await server.server.core.operations.flushAudit();
  // The store is lost after the files were removed, and before anything was committed.
  store.commit = () => Promise.reject(new StoreDown("gone", "not_applied"));
  const lost = await server.call("POST", "/erasures", { key: server.adminKey, body: { actor: ADA } });
  expectRefusal(lost, 503, "service_unavailable");
  expect(filesAtRest(server)).toEqual([]);
  store.commit = commit;
  expect(await erase()).toMatchObject({ redacted: 1, files: 1, submissions: 1, failed: [] });
  await server.server.core.operations.flushAudit();
  expect(await everythingStored(server)).not.toContain(CANARY);
});

it.runIf(process.env.FORMBRIDGE_TEST_STORE !== "postgres")(
  "[ERASURE-COMMAND] formbridge erase counts, erases and exits with 2 while something waits; the history verifies",
  async () => {
    await start({ fakeClock: false });
    await server.putIntake({ id: "files", schema: SCHEMA as never });
    await own();
    const theirs = await shared();
    const env = { FORMBRIDGE_DATA: server.folder };
    const run = (...more: string[]) => runCommand(["erase", "--actor", `human:${ADA.id}`, ...more], env);
    const counted = await run("--dry-run");
    expect([counted.code, JSON.parse(counted.stdout)]).toMatchObject([
      2,
      { dryRun: true, submissions: 1, redacted: 0, waiting: [theirs.submissionId] },
    ]);
    await finish(theirs);
    await server.server.core.operations.flushAudit();
    const done = await run();
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { submissions: 1, redacted: 1, waiting: [] }]);
    expect(done.stdout + done.stderr).not.toContain(CANARY);
    expect((await run()).stderr).toContain("nothing was found about this actor");
    expect((await runCommand(["verify", "--all"], env)).stdout).toContain("2 verified");
    expect(await everythingStored(server)).not.toContain(CANARY);
  },
);
