import { API_KEY_PATTERN, RESUME_TOKEN_PATTERN, SUBMISSION_ID_PATTERN } from "@formbridge/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  filled,
  HUMAN,
  history,
  MINUTE,
  record,
  setFields,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let botKey: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "hooked", destination: { kind: "webhook", url: "https://receiver.invalid/hook" } });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { roles: ["reviewer"] } }] });
  await server.putIntake({
    id: "signed",
    schema: { type: "object", properties: { name: { type: "string" }, signature: { "x-fill": "human" } } },
  });
  botKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

it("[NAMES-IDS] ids have their prefix and sort in the order of creation", async () => {
  const ids: string[] = [];
  for (let made = 0; made < 5; made++) ids.push((await create(server, "open")).submissionId);
  for (const id of ids) expect(id).toMatch(new RegExp(SUBMISSION_ID_PATTERN));
  expect([...ids].sort()).toEqual(ids);

  const { submissionId } = await submitted(server, "hooked");
  const eventIds = (await history(server, submissionId)).map((event) => event.eventId as string);
  expect(eventIds.length).toBeGreaterThan(1);
  for (const id of eventIds) expect(id).toMatch(/^evt_[0-9a-f-]{36}$/);
  expect([...eventIds].sort()).toEqual(eventIds);
  expect((await record(server, submissionId)).deliveryState.deliveryId).toMatch(/^dlv_[0-9a-f-]{36}$/);
});

it("[NAMES-SECRETS] tokens and keys are random from their first character on", async () => {
  const tokens: string[] = [];
  for (let made = 0; made < 40; made++) tokens.push((await create(server, "open")).resumeToken);
  for (const token of tokens) expect(token).toMatch(new RegExp(RESUME_TOKEN_PATTERN));
  expect(new Set(tokens).size).toBe(40);
  expect([...tokens].sort()).not.toEqual(tokens);
  // Time-ordered secrets would begin the same within a second.
  expect(new Set(tokens.map((token) => token.slice(5, 9))).size).toBeGreaterThan(35);
  expect(botKey).toMatch(new RegExp(API_KEY_PATTERN));
});

it.each(["a", "0", "a-b_c", `a${"b".repeat(63)}`])("[NAMES-INTAKE-ID] %s is an intake id", async (id) => {
  expect((await server.putIntake({ id })).status).toBe(201);
});

it.each(["A", "_a", "-a", "a.b", "a b", "é", `a${"b".repeat(64)}`])(
  "[NAMES-INTAKE-ID] %s is not an intake id, and is refused",
  async (id) => {
    const path = `/intakes/${encodeURIComponent(id)}`;
    const reply = await server.call("PUT", path, {
      key: server.adminKey,
      body: { id, version: "1", name: "x", schema: { type: "object" }, destination: { kind: "store" } },
    });
    expectError(reply, 422, "invalid");
    expect(reply.body.error.fields.map((field: Loose) => field.path)).toContain("id");
    expect((await server.call("GET", path, { key: server.adminKey })).status).toBe(404);
  },
);

it("[NAMES-INTAKE-UNIQUE] another tenant can't take an intake id", async () => {
  const other = await server.makeKey({ roles: ["admin"], actor: HUMAN, tenant: "elsewhere" });
  const before = (await server.call("GET", "/intakes/open")).body;
  expectError(await server.putIntake({ id: "open", version: "2", name: "mine" }, other), 409, "conflict");
  expect((await server.call("GET", "/intakes/open")).body).toEqual(before);
});

it.each([
  ["it-access", "it_access"],
  ["mixed-one_two", "mixed_one-two"],
])("[NAMES-TOOL-COLLISION] with %s registered, %s is refused", async (first, second) => {
  expect((await server.putIntake({ id: first })).status).toBe(201);
  expectError(await server.putIntake({ id: second }), 409, "conflict");
  expect((await server.call("GET", `/intakes/${second}`, { key: server.adminKey })).status).toBe(404);
});

it("[NAMES-ACTOR-KIND] `type` is accepted and returned as `kind`", async () => {
  const actor = { type: "human", id: "ada", name: "Ada", metadata: { team: "a" } };
  const { submissionId } = await create(server, "open", { actor });
  const shown = { kind: "human", id: "ada", name: "Ada", metadata: { team: "a" }, declared: true };
  expect((await record(server, submissionId)).createdBy).toEqual(shown);
  expect((await history(server, submissionId))[0]?.actor).toEqual(shown);
});

it("[NAMES-ACTOR-KIND] an actor that is two kinds at once, or none, is a 400", async () => {
  for (const actor of [{ kind: "agent", type: "human", id: "x" }, { id: "x" }, { kind: "robot", id: "x" }]) {
    expectError(await server.call("POST", "/intakes/open/submissions", { body: { actor } }), 400, "bad_request");
  }
});

it.each(["kind", "type"])("[NAMES-ACTOR-SYSTEM] a caller that says %s system is refused", async (word) => {
  const actor = { [word]: "system", id: "ttl_enforcer" };
  const made = await create(server, "open");
  const path = `/resume/${made.resumeToken}`;
  const refused = await unchangedBy(server, made.submissionId, () =>
    server.call("PATCH", path, { body: { actor, fields: { name: "x" } } }),
  );
  expectError(refused, 400, "bad_request");
  expectError(await server.call("DELETE", path, { body: { actor } }), 400, "bad_request");
  expectError(await server.call("POST", "/intakes/open/submissions", { body: { actor } }), 400, "bad_request");
  const body = { name: "x", roles: ["admin"], actor };
  expectError(await server.call("POST", "/keys", { key: server.adminKey, body }), 400, "bad_request");
});

it("[NAMES-ACTOR-OF-KEY] a call with a key is by the key's own actor, even with a token beside it", async () => {
  const made = await create(server, "open", { key: botKey });
  await filled(server, made.resumeToken, { name: "Ada" }, { key: botKey });
  const { createdBy, lastUpdatedBy, attribution } = await record(server, made.submissionId);
  expect(createdBy).toEqual(AGENT);
  expect(lastUpdatedBy).toEqual(AGENT);
  expect(attribution.name.actor).toEqual(AGENT);
});

it("[NAMES-ACTOR-OF-KEY] naming another actor than the key's is a 403", async () => {
  const made = await create(server, "open", { key: botKey });
  const refused = await unchangedBy(server, made.submissionId, () =>
    setFields(server, made.resumeToken, { name: "x" }, { key: botKey, body: { actor: HUMAN } }),
  );
  expectError(refused, 403, "forbidden");
  const create403 = await server.call("POST", "/intakes/open/submissions", { key: botKey, body: { actor: HUMAN } });
  expectError(create403, 403, "forbidden");
});

it("[NAMES-ACTS-FOR] a key records the actors that it may act for, and no others", async () => {
  const some = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "desk" }, actsFor: ["ada"] });
  const any = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "proxy" }, actsFor: ["*"] });
  for (const key of [some, any]) {
    const { submissionId } = await create(server, "open", { key, actor: HUMAN });
    expect((await record(server, submissionId)).createdBy).toEqual(HUMAN);
  }
  const body = { actor: { kind: "human", id: "bob" } };
  expectError(await server.call("POST", "/intakes/open/submissions", { key: some, body }), 403, "forbidden");
});

it("[NAMES-DECLARED] an actor without proof is marked as declared", async () => {
  const made = await create(server, "open", { actor: HUMAN });
  await filled(server, made.resumeToken, { name: "Ada" }, { body: { actor: AGENT } });
  const { createdBy, lastUpdatedBy, attribution } = await record(server, made.submissionId);
  expect(createdBy).toEqual({ ...HUMAN, declared: true });
  expect(lastUpdatedBy).toEqual({ ...AGENT, declared: true });
  expect(attribution.name.actor).toEqual({ ...AGENT, declared: true });
});

it("[NAMES-DECLARED] a caller can't claim to be identified", async () => {
  const body = { actor: { ...HUMAN, declared: false } };
  expectError(await server.call("POST", "/intakes/open/submissions", { body }), 400, "bad_request");
});

it("[NAMES-DECLARED-REVIEW] a token can't review, whoever its holder claims to be", async () => {
  const { submissionId, resumeToken } = await submitted(server, "gated");
  const body = { decision: "approved", actor: { kind: "human", id: "reviewer" } };
  for (const headers of [{}, { "if-match": `"${resumeToken}"` }]) {
    const refused = await unchangedBy(server, submissionId, () =>
      server.call("POST", `/submissions/${submissionId}/review`, { body, headers }),
    );
    expectError(refused, 401, "unauthorized");
  }
});

it("[NAMES-DECLARED-HUMAN] claiming to be human does not open a human-only field", async () => {
  const made = await create(server, "signed");
  const refused = await unchangedBy(server, made.submissionId, () =>
    setFields(server, made.resumeToken, { signature: "Ada" }, { body: { actor: HUMAN } }),
  );
  expect(expectError(refused, 422, "invalid").fields[0].path).toBe("signature");
});

it("[NAMES-OK] every JSON response has ok", async () => {
  const { submissionId, resumeToken } = await create(server, "open");
  const key = server.adminKey;
  const good = [
    server.call("GET", `/resume/${resumeToken}`),
    server.call("POST", `/resume/${resumeToken}/validate`),
    server.call("GET", `/submissions/${submissionId}/events`, { key }),
    server.call("GET", "/submissions", { key }),
    server.call("GET", "/events", { key }),
    server.call("GET", "/intakes", { key }),
    server.call("GET", "/intakes/open"),
    server.call("GET", "/intakes/open/schema"),
    server.call("GET", "/keys", { key }),
    server.call("GET", "/healthz"),
    server.call("GET", "/readyz"),
  ];
  for (const reply of await Promise.all(good)) expect([reply.status, reply.body.ok]).toEqual([200, true]);
  const bad = [
    server.call("GET", "/nowhere"),
    server.call("POST", "/healthz"),
    server.call("POST", "/intakes/open/submissions", { raw: "{" }),
    server.call("GET", "/submissions"),
    server.call("GET", `/submissions/${submissionId}`),
    server.call("GET", "/resume/rtok_short"),
  ];
  for (const reply of await Promise.all(bad)) {
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.body.ok).toBe(false);
    expect(reply.body.error.type).toMatch(/^[a-z_]+$/);
  }
});

it("[NAMES-MARK] responses about a submission include its id, state, version and token, errors too", async () => {
  const made = await create(server, "open");
  const { submissionId } = made;
  const mark = (version: number, state: string) => ({
    submissionId,
    state,
    version,
    resumeToken: expect.stringMatching(RESUME_TOKEN_PATTERN),
    tokenExpiresAt: expect.any(String),
  });
  expect(made).toMatchObject(mark(1, "draft"));
  expect((await server.call("GET", `/resume/${made.resumeToken}`)).body).toMatchObject(mark(1, "draft"));
  const set = await filled(server, made.resumeToken, { note: "x" });
  expect(set).toMatchObject(mark(2, "in_progress"));
  const checked = await server.call("POST", `/resume/${set.resumeToken}/validate`);
  expect(checked.body).toMatchObject(mark(2, "awaiting_input"));
  const refused = await setFields(server, made.resumeToken, { note: "y" });
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject(mark(2, "awaiting_input"));
  const cancelled = await server.call("DELETE", `/resume/${set.resumeToken}`);
  expect(cancelled.body).toMatchObject(mark(3, "cancelled"));
});

it("[NAMES-REQUEST-ID] the caller's request id is echoed, and one is generated if there is none", async () => {
  for (const path of ["/intakes/open", "/nowhere", "/submissions"]) {
    const named = await server.call("GET", path, { headers: { "x-request-id": "trace-42" } });
    expect(named.headers["x-request-id"]).toBe("trace-42");
    const made = [await server.call("GET", path), await server.call("GET", path)].map((r) => r.headers["x-request-id"]);
    expect(made[0]).toBeTruthy();
    expect(made[0]).not.toBe(made[1]);
  }
});

it("[NAMES-TIMES] every time is UTC with milliseconds, by the store's clock", async () => {
  server.clock.advance(7 * MINUTE + 123);
  const now = new Date(server.clock.now()).toISOString();
  const { submissionId } = await submitted(server, "open");
  const shown = await record(server, submissionId);
  expect(shown).toMatchObject({ createdAt: now, updatedAt: now, submittedAt: now, finalizedAt: now });
  expect((await history(server, submissionId)).map((event) => event.ts)).toEqual([now, now, now, now]);
  const times = JSON.stringify([shown, await history(server, submissionId)]).match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? [];
  for (const time of times) expect(time).toMatch(/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/);
});
