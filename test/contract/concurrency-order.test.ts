import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  expectGone,
  filled,
  HOUR,
  record,
  setFields,
  submit,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let creator: string;

const BAD_KEY = `fbk_${"z".repeat(43)}`;
const UNKNOWN = `rtok_${"A".repeat(43)}`;
const closed = { type: "object", additionalProperties: false, properties: { name: { type: "string" }, note: {} } };

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open", schema: closed });
  await server.putIntake({ id: "gated", schema: closed, approvalGates: [{ name: "check", reviewers: {} }] });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

describe("If-None-Match", () => {
  const read = (path: string, etag: string, key?: string): Promise<Reply> =>
    server.call("GET", path, { headers: { "if-none-match": etag }, ...(key !== undefined && { key }) });

  it("[CONCURRENCY-NOT-MODIFIED] the current token is a 304 without a body", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const answers = [
      await read(`/resume/${resumeToken}`, `"${resumeToken}"`),
      await read(`/resume/${resumeToken}`, resumeToken),
      await read(`/submissions/${submissionId}`, `"${resumeToken}"`, creator),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([304, ""]);
      expect(headers.etag).toBe(`"${resumeToken}"`);
    }
  });

  it("[CONCURRENCY-NOT-MODIFIED] reading and listing the token stream changes nothing", async () => {
    const { resumeToken } = await create(server, "open");
    await server.call("GET", `/resume/${resumeToken}`);
    await server.call("GET", `/resume/${resumeToken}/events?stream=all`);
    await server.server.core.operations.flushAudit();
    expect((await read(`/resume/${resumeToken}`, `"${resumeToken}"`)).status).toBe(304);
  });

  it("[CONCURRENCY-MODIFIED] after a write the older token gets the full response", async () => {
    const made = await create(server, "open", { key: creator });
    const set = await filled(server, made.resumeToken, { name: "Ada" });
    const reply = await read(`/submissions/${made.submissionId}`, `"${made.resumeToken}"`, creator);
    expect([reply.status, reply.body.resumeToken]).toEqual([200, set.resumeToken]);
    expect((await read(`/resume/${made.resumeToken}`, `"${made.resumeToken}"`)).status).toBe(200);
  });

  it("[CONCURRENCY-MODIFIED] so does the current one after a commit that kept the version", async () => {
    const { resumeToken } = await create(server, "open", { fields: { name: "Ada" } });
    await server.call("POST", `/resume/${resumeToken}/validate`);
    const reply = await read(`/resume/${resumeToken}`, `"${resumeToken}"`);
    expect([reply.status, reply.body.version]).toEqual([200, 1]);
  });
});

describe("If-None-Match with more than one token", () => {
  const statusOf = async (etag: string, key = creator): Promise<number> => {
    const made = await create(server, "open", { key: creator, fields: { name: "Ada" } });
    const headers = { "if-none-match": etag.replaceAll("TOKEN", made.resumeToken) };
    return (await server.call("GET", `/submissions/${made.submissionId}`, { headers, key })).status;
  };

  it.each([
    '"v1-TOKEN"',
    'W/"TOKEN"',
    'W/"v1-TOKEN"',
    `"${UNKNOWN}", "TOKEN"`,
    `W/"${UNKNOWN}",W/"TOKEN"`,
    "TOKEN",
    '"1"',
    'W/"1"',
    "*",
  ])("[AUDIT-F15] %s names the current state: 304", async (etag) => {
    expect(await statusOf(etag)).toBe(304);
  });

  it.each(['"v9-TOKEN"', `"v1-${UNKNOWN}"`, '"9"', `"${UNKNOWN}", "9"`, "W/", '""', ","])(
    "[AUDIT-F15] %s does not: the full response",
    async (etag) => {
      expect(await statusOf(etag)).toBe(200);
    },
  );

  it("[AUDIT-F15] a caller who may not hold the token compares versions, and learns nothing of the token", async () => {
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
    expect(await statusOf('"1"', viewer)).toBe(304);
    expect(await statusOf('"2"', viewer)).toBe(200);
    expect(await statusOf('"TOKEN"', viewer)).toBe(200);
    expect(await statusOf('"v1-TOKEN"', viewer)).toBe(200);
  });
});

describe("a 409", () => {
  it("[AUDIT-F15] says when the submission was last written, and when the presented token was replaced", async () => {
    const made = await create(server, "open", { key: creator });
    server.clock.advance(5000);
    const rotatedAt = new Date(server.clock.now()).toISOString();
    const second = await filled(server, made.resumeToken, { name: "Ada" });
    server.clock.advance(60_000);
    const { version } = await filled(server, second.resumeToken, { name: "Eve" });
    const lastModified = new Date(server.clock.now()).toUTCString();
    server.clock.advance(60_000);
    const refused = [
      await server.call("PATCH", `/resume/${made.resumeToken}`, { body: { actor: AGENT, fields: { name: "x" } } }),
      await server.call("GET", `/resume/${made.resumeToken}`),
    ];
    for (const reply of refused) {
      expect(expectError(reply, 409, "token_conflict").rotatedAt).toBe(rotatedAt);
      expect(reply.headers["last-modified"]).toBe(lastModified);
    }
    const byVersion = await server.call("PATCH", `/submissions/${made.submissionId}/fields`, {
      key: creator,
      body: { fields: {}, version: version - 1 },
    });
    expect(expectError(byVersion, 409, "token_conflict")).not.toHaveProperty("rotatedAt");
    expect(byVersion.headers["last-modified"]).toBe(lastModified);
  });
});

describe("the order of checks", () => {
  const patch = (
    ref: string,
    options: { raw?: string; body?: object; key?: string; headers?: Record<string, string> },
  ) => server.call("PATCH", `/resume/${ref}`, options);
  const body = (fields: object = { name: "x" }) => ({ actor: AGENT, fields });

  it("[CONCURRENCY-ORDER-PARSE] parsing comes before the key", async () => {
    expectError(await patch(UNKNOWN, { raw: "{", key: BAD_KEY }), 400, "bad_request");
    expectError(await patch(UNKNOWN, { body: { fields: "none" }, key: BAD_KEY }), 400, "bad_request");
    const headers = { "content-type": "text/plain" };
    expectError(await patch(UNKNOWN, { raw: "x", headers, key: BAD_KEY }), 415, "unsupported_media_type");
    const large = `{"fields":{"name":"${"x".repeat(1_100_000)}"}}`;
    expectError(await patch(UNKNOWN, { raw: large, key: BAD_KEY }), 413, "payload_too_large");
  });

  it("[CONCURRENCY-ORDER-KEY] the key comes before the token", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    for (const token of [resumeToken, UNKNOWN, "rtok_short"]) {
      const reply = await unchangedBy(server, submissionId, () => patch(token, { body: { fields: {} }, key: BAD_KEY }));
      expectError(reply, 401, "unauthorized");
    }
    const byId = await server.call("PATCH", `/submissions/${submissionId}/fields`, {
      body: { fields: {} },
      key: BAD_KEY,
    });
    expectError(byId, 401, "unauthorized");
  });

  it("[CONCURRENCY-ORDER-RESOLVE] an unknown or revoked token comes before disagreement", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const headers = { "if-match": `"${resumeToken}"` };
    expectError(await patch("rtok_short", { body: body(), headers }), 400, "token_invalid");
    expectError(await patch(UNKNOWN, { body: body(), headers }), 404, "token_invalid");
    const { resumeToken: next } = (
      await server.call("POST", `/submissions/${submissionId}/tokens/reissue`, { key: creator, body: {} })
    ).body;
    expectGone(await patch(resumeToken, { body: body(), headers: { "if-match": `"${next}"` } }), "token_expired");
  });

  it("[CONCURRENCY-ORDER-AGREE] disagreement and absence come before a recorded response", async () => {
    const made = await create(server, "open", { key: creator });
    const other = await create(server, "open");
    const headers = { "idempotency-key": "order-agree" };
    expect((await patch(made.resumeToken, { body: body(), headers })).status).toBe(200);
    const disagreeing = { ...headers, "if-match": `"${other.resumeToken}"` };
    expectError(await patch(made.resumeToken, { body: body(), headers: disagreeing }), 400, "bad_request");
    const path = `/submissions/${made.submissionId}/fields`;
    expectError(await server.call("PATCH", path, { body: body(), headers }), 428, "token_required");
    const byKey = await server.call("PATCH", path, { body: { fields: { name: "x" } }, headers, key: creator });
    expectError(byKey, 428, "token_required");
  });

  it("[CONCURRENCY-ORDER-REPLAY] a retry gets its recorded response although its token is stale", async () => {
    const made = await create(server, "open");
    const headers = { "idempotency-key": "order-replay" };
    const first = await patch(made.resumeToken, { body: body(), headers });
    await filled(server, first.body.resumeToken, { name: "newer" });
    const again = await patch(made.resumeToken, { body: body(), headers });
    expect([again.status, again.body.version, again.body._idempotent]).toEqual([200, 2, true]);
    expect((await record(server, made.submissionId)).fields).toEqual({ name: "newer" });
  });

  it("[CONCURRENCY-ORDER-REPLAY] and although its submission has ended", async () => {
    const made = await create(server, "open", { fields: { name: "Ada" } });
    const send = () => submit(server, made.resumeToken, { body: { idempotencyKey: "order-ended" } });
    const first = await send();
    expect(first.body.state).toBe("finalized");
    const again = await send();
    expect([again.status, again.body.state, again.body._idempotent]).toEqual([200, "finalized", true]);
    // An agent that lost the response read the new token: nothing was written since, so it is the same submit.
    const read = await submit(server, first.body.resumeToken, { body: { idempotencyKey: "order-ended" } });
    expect([read.status, read.body._idempotent]).toEqual([200, true]);
  });

  it("[CONCURRENCY-ORDER-ENDED] an end comes before a stale token", async () => {
    const cancelled = await create(server, "open");
    await server.call("DELETE", `/resume/${cancelled.resumeToken}`);
    const finalized = await submitted(server, "open");
    const expired = await create(server, "open", { ttlMs: HOUR });
    await filled(server, expired.resumeToken, { name: "newer" });
    server.clock.advance(2 * HOUR);
    expectGone(await setFields(server, cancelled.resumeToken, { name: "x" }), "cancelled");
    expectGone(await setFields(server, finalized.firstToken, { name: "x" }), "token_expired");
    expectGone(await setFields(server, expired.resumeToken, { name: "x" }), "expired");
  });

  it("[CONCURRENCY-ORDER-STALE] a stale token comes before a lock", async () => {
    const { submissionId, firstToken } = await submitted(server, "gated");
    const reply = await unchangedBy(server, submissionId, () => setFields(server, firstToken, { name: "x" }));
    expectError(reply, 409, "token_conflict");
  });

  it("[CONCURRENCY-ORDER-STALE] and before the content", async () => {
    const made = await create(server, "open");
    await filled(server, made.resumeToken, { name: "newer" });
    const reply = await unchangedBy(server, made.submissionId, () =>
      setFields(server, made.resumeToken, { nobody: 1 }),
    );
    expectError(reply, 409, "token_conflict");
  });

  it("[CONCURRENCY-ORDER-LOCKED] a lock comes before the content", async () => {
    const { submissionId, resumeToken } = await submitted(server, "gated");
    const reply = await unchangedBy(server, submissionId, () => setFields(server, resumeToken, { nobody: 1 }));
    expectError(reply, 409, "needs_approval");
  });
});
