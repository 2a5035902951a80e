import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, eventsOf, idempotencyKey, setFields, submit, typesOf } from "../support/moves.ts";

let server: TestServer;
let agentKey: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({ id: "others" });
  agentKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

describe("whose record it is", () => {
  it("[IDEMPOTENCY-REPLAY-TO-MAKER] another key of the same actor gets the replay", async () => {
    const body = { idempotencyKey: "maker-1" };
    const first = await created(server, "forms", { key: agentKey, body });
    const secondKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const again = await create(server, "forms", { key: secondKey, body });
    expect([again.status, again.body.submissionId]).toEqual([200, first.submissionId]);
  });

  it("[IDEMPOTENCY-REPLAY-TO-MAKER] another caller with the very same request gets a 409 that names nothing", async () => {
    const body = { idempotencyKey: "maker-2", actor: AGENT };
    const first = await created(server, "forms", { key: agentKey, body });
    const stranger = await server.makeKey({
      roles: ["agent"],
      actor: { kind: "agent", id: "stranger" },
      actsFor: ["bot"],
    });
    const refused = await create(server, "forms", { key: stranger, body });
    expect([refused.status, refused.body.error.type, refused.body.error.retryable]).toEqual([409, "conflict", false]);
    expect(JSON.stringify(refused.body)).not.toContain(first.submissionId);
    expect(JSON.stringify(refused.body)).not.toContain("rtok_");
    expect(refused.headers).not.toHaveProperty("x-resume-token");
  });

  it("[IDEMPOTENCY-CONFLICT] a key with another request names the submission that holds it", async () => {
    const body = { idempotencyKey: "conflict-1" };
    const first = await created(server, "forms", { key: agentKey, body });
    const other = await create(server, "forms", { key: agentKey, body: { ...body, initialFields: { name: "Ada" } } });
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({
      ok: false,
      submissionId: first.submissionId,
      error: { type: "conflict", retryable: false },
    });
    const write = { body: { idempotencyKey: "conflict-1" } };
    const one = await setFields(server, first.resumeToken, { name: "Ada" }, write);
    const two = await setFields(server, one.body.resumeToken, { name: "Grace" }, write);
    expect([two.status, two.body.error.type, two.body.submissionId]).toEqual([409, "conflict", first.submissionId]);
  });

  it("[IDEMPOTENCY-CONFLICT-ANONYMOUS] without authentication the conflict names nothing", async () => {
    const body = { idempotencyKey: idempotencyKey("anonymous") };
    const first = await created(server, "forms", { body });
    const other = await create(server, "forms", { body: { ...body, initialFields: { name: "Ada" } } });
    expect([other.status, other.body.error.type]).toEqual([409, "conflict"]);
    expect(other.body).not.toHaveProperty("submissionId");
    expect(JSON.stringify(other.body)).not.toContain(first.submissionId);
  });
});

describe("when two requests are the same", () => {
  const base = { initialFields: { name: "Ada", note: "x" }, ttlMs: 3_600_000 };

  it("[IDEMPOTENCY-MEANING-CREATE] order of keys, names and metadata do not make another request", async () => {
    const key = idempotencyKey("same-meaning");
    const first = await created(server, "forms", { body: { ...base, idempotencyKey: key } });
    const again = await create(server, "forms", {
      body: {
        idempotencyKey: key,
        ttlMs: 3_600_000,
        initialFields: { note: "x", name: "Ada" },
        actor: { type: "agent", id: "bot", name: "Bot", metadata: { run: 2 } },
      },
    });
    expect([again.status, again.body.submissionId]).toEqual([200, first.submissionId]);
  });

  it.each([
    ["actor kind", { actor: { kind: "human", id: "bot" } }],
    ["actor id", { actor: { kind: "agent", id: "bot2" } }],
    ["initial fields", { initialFields: { name: "Ada" } }],
    ["ttlMs", { ttlMs: 3_600_001 }],
    ["no ttlMs", { ttlMs: undefined }],
  ])("[IDEMPOTENCY-MEANING-CREATE] another %s makes another request", async (what, change) => {
    const key = idempotencyKey(`other-${what.replaceAll(" ", "-")}`);
    await created(server, "forms", { body: { ...base, idempotencyKey: key } });
    const other = await create(server, "forms", { body: { ...base, ...change, idempotencyKey: key } });
    expect([other.status, other.body.error.type]).toEqual([409, "conflict"]);
  });

  it("[IDEMPOTENCY-MEANING-SET-FIELDS] another submission makes another request", async () => {
    const move = { key: agentKey, body: { idempotencyKey: "meaning-set" } };
    const one = await created(server, "forms", { key: agentKey });
    const two = await created(server, "forms", { key: agentKey });
    expect((await setFields(server, one.resumeToken, { name: "Ada", note: "x" }, move)).status).toBe(200);
    const reordered = await setFields(server, one.resumeToken, { note: "x", name: "Ada" }, move);
    expect([reordered.status, reordered.body._idempotent]).toEqual([200, true]);
    const elsewhere = await setFields(server, two.resumeToken, { name: "Ada", note: "x" }, move);
    expect([elsewhere.status, elsewhere.body.submissionId]).toEqual([409, one.submissionId]);
  });

  it("[IDEMPOTENCY-MEANING-SUBMIT] another submission makes another submit", async () => {
    const ready = { key: agentKey, body: { initialFields: { name: "Ada" } } };
    const one = await created(server, "forms", ready);
    const two = await created(server, "forms", ready);
    expect((await submit(server, one.resumeToken, "meaning-submit", { key: agentKey })).status).toBe(200);
    const other = await submit(server, two.resumeToken, "meaning-submit", { key: agentKey });
    expect([other.status, other.body.error.type]).toEqual([409, "conflict"]);
    expect((await server.call("GET", `/resume/${two.resumeToken}`)).body.state).toBe("in_progress");
  });

  it("[IDEMPOTENCY-MEANING-SUBMIT] another version makes another submit", async () => {
    const one = await created(server, "forms", { key: agentKey, body: { initialFields: { name: "Ada" } } });
    const mended = await setFields(server, one.resumeToken, { name: "Bea" }, { key: agentKey });
    await submit(server, mended.body.resumeToken, "meaning-version", { key: agentKey });
    const again = await submit(server, one.resumeToken, "meaning-version", { key: agentKey });
    expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
  });

  it("[IDEMPOTENCY-SCOPE] another intake, operation or tenant is another scope of the key", async () => {
    const key = "one-key-for-all";
    const body = { idempotencyKey: key, initialFields: { name: "Ada" } };
    const first = await created(server, "forms", { key: agentKey, body });
    const elsewhere = await created(server, "others", { key: agentKey, body });
    expect(elsewhere.submissionId).not.toBe(first.submissionId);
    const set = await setFields(
      server,
      first.resumeToken,
      { name: "Ada" },
      { key: agentKey, body: { idempotencyKey: key } },
    );
    expect([set.status, set.body._idempotent]).toEqual([200, false]);
    const sent = await submit(server, set.body.resumeToken, key, { key: agentKey });
    expect([sent.status, sent.body._idempotent]).toEqual([200, false]);
    const theirAdmin = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "boss" }, tenant: "acme" });
    await server.putIntake({ id: "acme-forms" }, theirAdmin);
    const theirs = await create(server, "acme-forms", { key: theirAdmin, body });
    expect([theirs.status, theirs.body._idempotent]).toEqual([201, false]);
  });
});

describe("what is recorded", () => {
  it("[IDEMPOTENCY-RECORDED-422] a failed submit is replayed to the identical request", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    const first = await submit(server, resumeToken, "failed-1");
    expect([first.status, first.body.error.type, first.body._idempotent]).toEqual([422, "missing", false]);
    const again = await submit(server, resumeToken, "failed-1");
    expect(again.status).toBe(422);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(again.body).toEqual({ ...first.body, _idempotent: true });
    const types = typesOf(await eventsOf(server, submissionId, ""));
    expect(types.filter((type) => type === "validation.failed")).toHaveLength(1);
  });

  it("[IDEMPOTENCY-MENDED-422] the corrected submission is submitted under the same key", async () => {
    const { resumeToken } = await created(server, "forms");
    expect((await submit(server, resumeToken, "mended-1")).status).toBe(422);
    const mended = await setFields(server, resumeToken, { name: "Ada" });
    const second = await submit(server, mended.body.resumeToken, "mended-1");
    expect([second.status, second.body.state, second.body._idempotent]).toEqual([200, "finalized", false]);
    const replay = await submit(server, mended.body.resumeToken, "mended-1");
    expect(replay.body).toEqual({ ...second.body, _idempotent: true });
  });

  it("[IDEMPOTENCY-REFUSALS-FREE] a refused call leaves its key free", async () => {
    await server.putIntake({
      id: "strict",
      schema: { type: "object", properties: { a: {} }, additionalProperties: false },
    });
    const key = idempotencyKey("refused");
    const refused = await create(server, "strict", { body: { idempotencyKey: key, initialFields: { b: 1 } } });
    expect(refused.status).toBe(422);
    const { resumeToken } = await created(server, "strict", { body: { idempotencyKey: key, initialFields: { a: 1 } } });
    const move = { body: { idempotencyKey: "refused" } };
    expect((await setFields(server, resumeToken, { b: 1 }, move)).status).toBe(422);
    const good = await setFields(server, resumeToken, { a: 2 }, move);
    expect([good.status, good.body._idempotent]).toEqual([200, false]);
    const stale = await setFields(server, resumeToken, { a: 3 }, { body: { idempotencyKey: "stale-then-good" } });
    expect(stale.body.error.type).toBe("token_conflict");
    const fresh = await setFields(
      server,
      good.body.resumeToken,
      { a: 3 },
      { body: { idempotencyKey: "stale-then-good" } },
    );
    expect([fresh.status, fresh.body._idempotent]).toEqual([200, false]);
  });
});
