import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  created,
  eventsOf,
  idempotencyKey,
  read,
  setFields,
  submit,
  typesOf,
} from "../support/moves.ts";

let server: TestServer;
let agentKey: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  agentKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

const count = async (): Promise<number> => {
  const reply = await server.call("GET", "/submissions?limit=1000", { key: server.adminKey });
  return reply.body.items.length;
};

describe("where a key comes from", () => {
  it("[IDEMPOTENCY-OPTIONAL] calls without a key are each a new one", async () => {
    const first = await created(server, "forms");
    const second = await created(server, "forms");
    expect(second.submissionId).not.toBe(first.submissionId);
    const once = await setFields(server, first.resumeToken, { name: "Ada" });
    const again = await setFields(server, once.body.resumeToken, { name: "Ada" });
    expect([once.status, again.status, again.body.version]).toEqual([200, 200, 3]);
  });

  it("[IDEMPOTENCY-SUBMIT-NEEDS-KEY] a submit without a key is a 400 that asks for one", async () => {
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const before = await eventsOf(server, submissionId, "");
    const reply = await server.call("POST", `/resume/${resumeToken}/submit`, { body: { actor: AGENT } });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ ok: false, error: { type: "invalid" } });
    expect(reply.body.error.nextActions).toContainEqual(
      expect.objectContaining({ action: "collect_field", field: "idempotencyKey" }),
    );
    expect(await eventsOf(server, submissionId, "")).toHaveLength(before.length);
  });

  it("[IDEMPOTENCY-HEADER-OR-BODY] a key in the header is the same key as in the body", async () => {
    const key = idempotencyKey("either-way");
    const first = await create(server, "forms", { body: { idempotencyKey: key } });
    const again = await create(server, "forms", { headers: { "idempotency-key": key } });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body.submissionId).toBe(first.body.submissionId);
  });

  it("[IDEMPOTENCY-HEADER-WINS] of two keys the header's counts", async () => {
    const [inHeader, inBody] = [idempotencyKey("in-header"), idempotencyKey("in-body")];
    const first = await create(server, "forms", {
      headers: { "idempotency-key": inHeader },
      body: { idempotencyKey: inBody },
    });
    const byBody = await create(server, "forms", { headers: { "idempotency-key": inBody } });
    const byHeader = await create(server, "forms", { headers: { "idempotency-key": inHeader } });
    expect([first.status, byBody.status, byHeader.status]).toEqual([201, 201, 200]);
    expect(byHeader.body.submissionId).toBe(first.body.submissionId);
  });

  it.each([
    ["a space", "has a space in the middle of it, so no"],
    ["nothing", ""],
    ["256 characters", "k".repeat(256)],
    ["a letter beyond ASCII", "schlüssel-schlüssel-schlüssel-schlüssel"],
    ["a control character", "key\u0007key\u0007key\u0007key\u0007key\u0007key\u0007key\u0007key\u0007"],
  ])("[IDEMPOTENCY-KEY-FORMAT] a key with %s is a 400 everywhere, and nothing is changed", async (_what, bad) => {
    const { resumeToken } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const before = await count();
    const replies = [
      await create(server, "forms", { body: { idempotencyKey: bad } }),
      await setFields(server, resumeToken, { note: "x" }, { body: { idempotencyKey: bad } }),
      await submit(server, resumeToken, bad),
    ];
    for (const reply of replies) expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
    expect(await count()).toBe(before);
    expect((await server.call("GET", `/resume/${resumeToken}`)).body.version).toBe(1);
  });

  it("[IDEMPOTENCY-KEY-FORMAT] keys of 1 and of 255 characters are valid", async () => {
    for (const good of ["!", "~".repeat(255)]) {
      const reply = await create(server, "forms", { key: agentKey, body: { idempotencyKey: good } });
      expect(reply.status).toBe(201);
    }
  });

  it("[IDEMPOTENCY-ANONYMOUS-LENGTH] without authentication a create needs a key of at least 32 characters", async () => {
    const short = await create(server, "forms", { body: { idempotencyKey: "k".repeat(31) } });
    expect([short.status, short.body.error.type]).toEqual([400, "bad_request"]);
    expect((await create(server, "forms", { body: { idempotencyKey: "k".repeat(32) } })).status).toBe(201);
    expect((await create(server, "forms", { key: agentKey, body: { idempotencyKey: "short" } })).status).toBe(201);
  });
});

describe("replays", () => {
  it("[IDEMPOTENCY-MARK] a response mentions its key, and only if there is one", async () => {
    const body = { idempotencyKey: idempotencyKey("marked") };
    expect((await create(server, "forms")).body).not.toHaveProperty("_idempotent");
    expect((await create(server, "forms", { body })).body._idempotent).toBe(false);
    expect((await create(server, "forms", { body })).body._idempotent).toBe(true);
    const { resumeToken } = await created(server, "forms");
    const plain = await setFields(server, resumeToken, { name: "Ada" });
    expect(plain.body).not.toHaveProperty("_idempotent");
    const keyed = await setFields(
      server,
      plain.body.resumeToken,
      { note: "x" },
      { body: { idempotencyKey: "marked" } },
    );
    expect(keyed.body._idempotent).toBe(false);
    expect((await submit(server, keyed.body.resumeToken, "marked")).body._idempotent).toBe(false);
  });

  it("[IDEMPOTENCY-REPLAY-CREATE] a repeated create returns the current submission", async () => {
    const body = { idempotencyKey: idempotencyKey("again-1"), initialFields: { note: "draft" } };
    const first = await create(server, "forms", { body });
    expect(first.body.replayCount).toBe(0);
    const changed = await setFields(server, first.body.resumeToken, { name: "Ada" });
    const before = await count();
    const again = await create(server, "forms", { body });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({
      submissionId: first.body.submissionId,
      resumeToken: changed.body.resumeToken,
      version: 2,
      fields: { note: "draft", name: "Ada" },
      replayCount: 1,
      originalTimestamp: first.body.originalTimestamp,
    });
    expect((await create(server, "forms", { body })).body.replayCount).toBe(2);
    expect(await count()).toBe(before);
  });

  it("[IDEMPOTENCY-REPLAY-SET-FIELDS] a repeated setFields returns the recorded response, whatever was written since", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    const move = { body: { idempotencyKey: "set-1" } };
    const first = await setFields(server, resumeToken, { name: "Ada" }, move);
    await setFields(server, first.body.resumeToken, { name: "Grace" });
    const again = await setFields(server, resumeToken, { name: "Ada" }, move);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, _idempotent: true });
    expect(again.headers.etag).toBe(first.headers.etag);
    expect((await read(server, submissionId, server.adminKey)).body.fields).toEqual({ name: "Grace" });
  });

  it("[IDEMPOTENCY-REPLAY-SUBMIT] a repeated submit returns the recorded response and submits nothing", async () => {
    const { resumeToken, submissionId } = await created(server, "forms", { body: { initialFields: { name: "Ada" } } });
    const first = await submit(server, resumeToken, "submit-1");
    expect([first.status, first.body.state]).toEqual([200, "finalized"]);
    server.clock.advance(1000);
    const again = await submit(server, resumeToken, "submit-1");
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, _idempotent: true });
    const types = typesOf(await eventsOf(server, submissionId, ""));
    expect(types.filter((type) => type === "submission.submitted")).toHaveLength(1);
  });

  it("[IDEMPOTENCY-REPLAY-HEADERS] only replays are marked as replays", async () => {
    const body = { idempotencyKey: idempotencyKey("headers") };
    const recordedAt = new Date(server.clock.now()).toISOString();
    const first = await create(server, "forms", { body });
    expect(first.headers).not.toHaveProperty("idempotent-replayed");
    expect(first.headers).not.toHaveProperty("x-original-request-time");
    const plain = await setFields(server, first.body.resumeToken, { name: "Ada" }, { body: { idempotencyKey: "h" } });
    expect(plain.headers).not.toHaveProperty("idempotent-replayed");
    server.clock.advance(5000);
    for (const reply of [
      await create(server, "forms", { body }),
      await setFields(server, first.body.resumeToken, { name: "Ada" }, { body: { idempotencyKey: "h" } }),
    ]) {
      expect(reply.headers["idempotent-replayed"]).toBe("true");
      expect(reply.headers["x-original-request-time"]).toBe(recordedAt);
    }
  });

  it("[IDEMPOTENCY-REPLAY-NO-EFFECT] a replay leaves one event and changes nothing else", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    const move = { body: { idempotencyKey: "quiet" } };
    await setFields(server, resumeToken, { name: "Ada" }, move);
    const before = await read(server, submissionId, server.adminKey);
    const eventsBefore = await eventsOf(server, submissionId, "");
    await setFields(server, resumeToken, { name: "Ada" }, move);
    const after = await read(server, submissionId, server.adminKey);
    expect(after.body).toEqual(before.body);
    const added = (await eventsOf(server, submissionId, "")).slice(eventsBefore.length);
    expect(typesOf(added)).toEqual(["submission.replayed"]);
    expect(added[0]).toMatchObject({ version: before.body.version, stream: "submission" });
  });

  it("[IDEMPOTENCY-REPLAY-COUNT] only replays of the create are counted", async () => {
    const body = { idempotencyKey: idempotencyKey("counted") };
    const { resumeToken, submissionId } = await created(server, "forms", { body });
    const move = { body: { idempotencyKey: "counted" } };
    await setFields(server, resumeToken, { name: "Ada" }, move);
    await setFields(server, resumeToken, { name: "Ada" }, move);
    expect((await read(server, submissionId, server.adminKey)).body.replayCount).toBe(0);
    await create(server, "forms", { body });
    expect((await read(server, submissionId, server.adminKey)).body.replayCount).toBe(1);
  });

  it("[IDEMPOTENCY-BEFORE-STALE] a retry with its used-up token is a replay, any other write with it is stale", async () => {
    const { resumeToken } = await created(server, "forms");
    const move = { body: { idempotencyKey: "lost-answer" } };
    await setFields(server, resumeToken, { name: "Ada" }, move);
    const retry = await setFields(server, resumeToken, { name: "Ada" }, move);
    expect([retry.status, retry.body._idempotent]).toEqual([200, true]);
    const other = await setFields(server, resumeToken, { name: "Ada" });
    expect([other.status, other.body.error.type]).toEqual([409, "token_conflict"]);
  });

  it("[IDEMPOTENCY-REPLAY-TO-HOLDER] the original token and the current one replay, one in between does not", async () => {
    const { resumeToken: original } = await created(server, "forms");
    const move = { body: { idempotencyKey: "holder" } };
    const first = await setFields(server, original, { name: "Ada" }, move);
    const between = first.body.resumeToken;
    const { resumeToken: current } = (await setFields(server, between, { note: "x" })).body;
    for (const token of [original, current]) {
      const reply = await setFields(server, token, { name: "Ada" }, move);
      expect([reply.status, reply.body._idempotent]).toEqual([200, true]);
    }
    const refused = await setFields(server, between, { name: "Ada" }, move);
    expect([refused.status, refused.body.error.type]).toEqual([409, "conflict"]);
    expect(refused.body).not.toHaveProperty("submissionId");
    expect(JSON.stringify(refused.body)).not.toContain("rtok_");
  });
});
