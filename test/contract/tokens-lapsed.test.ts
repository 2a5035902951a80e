import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { idempotencyKey } from "../support/moves.ts";
import {
  AGENT,
  create,
  eventTypes,
  expectError,
  expectGone,
  expectNoToken,
  filled,
  HOUR,
  setFields,
  submit,
} from "../support/submissions.ts";

let server: TestServer;
let creator: string;
let viewer: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "brief", tokens: { ttlMs: HOUR } });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
});
afterAll(() => server.stop());

/** A submission whose current token has lapsed; the submission itself is open for days. */
async function lapsed(fields: Loose = { name: "Ada" }): Promise<Loose> {
  const made = await create(server, "brief", { key: creator, fields });
  server.clock.advance(2 * HOUR);
  return made;
}

const reissue = (id: string, key: string): Promise<Reply> =>
  server.call("POST", `/submissions/${id}/tokens/reissue`, { key, body: {} });

describe("a lapsed token", () => {
  it("[AUDIT-F1] [TOKENS-EXPIRED] its 410 names reissue_token, and following it returns a token that works", async () => {
    for (const key of [creator, server.adminKey]) {
      const { submissionId, resumeToken } = await lapsed();
      const error = expectGone(await setFields(server, resumeToken, { name: "x" }), "token_expired");
      expect(error).toMatchObject({ canRecover: true, recoveryMethod: "creator_or_admin_key" });
      expect(error.nextActions).toEqual([{ action: "reissue_token", hint: expect.stringContaining("key") }]);
      const fresh = await reissue(submissionId, key);
      expect(fresh.status).toBe(200);
      expect((await filled(server, fresh.body.resumeToken, { name: "Eve" })).version).toBe(3);
    }
  });

  it("[AUDIT-F1] no response shows it again; callers who may reissue are told so", async () => {
    const { submissionId, resumeToken } = await lapsed();
    const path = `/submissions/${submissionId}`;
    for (const key of [creator, server.adminKey]) {
      const answers = [
        await server.call("GET", path, { key }),
        await server.call("GET", `${path}/events`, { key }),
        await server.call("GET", `${path}/handoffs`, { key }),
        await server.call("POST", `${path}/validate`, { key, body: {} }),
        await server.call("POST", `${path}/handoffs`, { key, body: { version: 1 } }),
      ];
      for (const reply of answers) {
        expect([200, 201]).toContain(reply.status);
        expectNoToken(reply);
        expect(reply.headers.etag).toBe('"1"');
        expect(reply.body.warning).toEqual({
          message: expect.stringContaining("expired"),
          timeRemaining: 0,
          nextActions: [{ action: "reissue_token", hint: expect.any(String) }],
        });
      }
      const refused = [
        await server.call("PATCH", `${path}/fields`, { key, body: { fields: {}, version: 9 } }),
        await server.call("PATCH", `${path}/fields`, { key, body: { fields: {} } }),
        await server.call("POST", `${path}/uploads/upl_x/confirm`, { key, body: { version: 1 } }),
        await server.call("POST", `${path}/handoffs`, { key, body: { version: 1, kind: "direct" } }),
      ];
      for (const reply of refused) {
        expect(reply.status).toBeGreaterThanOrEqual(400);
        expect(reply.body).toMatchObject({ submissionId, version: 1 });
        expectNoToken(reply);
      }
    }
    const seen = await server.call("GET", path, { key: viewer });
    expectNoToken(seen);
    expect(seen.body).not.toHaveProperty("warning");
    expect(await server.atRest()).not.toContain(resumeToken);
  });

  it("[AUDIT-F1] recorded responses are replayed without it", async () => {
    const key = idempotencyKey("lapsed-create");
    const again = () =>
      server.call("POST", "/intakes/brief/submissions", {
        key: creator,
        body: {},
        headers: { "idempotency-key": key },
      });
    const { resumeToken, submissionId } = (await again()).body;
    const set = { headers: { "idempotency-key": "lapsed-set" }, body: {} };
    const byVersion = (body: Loose) =>
      server.call("PATCH", `/submissions/${submissionId}/fields`, { ...set, key: creator, body });
    const done = await byVersion({ fields: { note: "x" }, version: 1 });
    expect(done.body.resumeToken).not.toBe(resumeToken);
    const early = await byVersion({ fields: { note: "x" }, version: 1 });
    expect(early.body).toMatchObject({ _idempotent: true, resumeToken: done.body.resumeToken });
    const body = { version: 2, idempotencyKey: "lapsed-submit" };
    const failed = await server.call("POST", `/submissions/${submissionId}/submit`, { key: creator, body });
    expect([failed.status, failed.body.resumeToken]).toEqual([422, done.body.resumeToken]);
    server.clock.advance(2 * HOUR);
    const replays = [
      await again(),
      await byVersion({ fields: { note: "x" }, version: 1 }),
      await server.call("POST", `/submissions/${submissionId}/submit`, { key: creator, body }),
    ];
    for (const reply of replays) {
      expect(reply.headers["idempotent-replayed"]).toBe("true");
      expect(reply.body).toMatchObject({ _idempotent: true, submissionId });
      expectNoToken(reply);
    }
  });

  it("[AUDIT-F1] of an ended submission, its 410 says how to read that, and offers no reissue", async () => {
    const { submissionId, resumeToken } = (
      await submit(server, (await create(server, "brief", { fields: { name: "Ada" }, key: creator })).resumeToken)
    ).body;
    server.clock.advance(2 * HOUR);
    const error = expectGone(await server.call("GET", `/resume/${resumeToken}`), "token_expired");
    expect(error).toMatchObject({ canRecover: false, nextActions: [{ action: "fetch_current_state" }] });
    const read = await server.call("GET", `/submissions/${submissionId}`, { key: creator });
    expect(read.body.state).toBe("finalized");
    expectNoToken(read);
    expect(read.body).not.toHaveProperty("warning");
  });

  it("[AUDIT-F1] reading never writes over HTTP", async () => {
    const { submissionId } = await lapsed();
    for (let n = 0; n < 3; n++) {
      expect((await server.call("GET", `/submissions/${submissionId}`, { key: creator })).body.version).toBe(1);
    }
  });
});

describe("over MCP, status after the token has lapsed", () => {
  it.each(["submissionId", "resumeToken"])("[AUDIT-F1] by %s returns a new token and says so", async (by) => {
    const host = await connectHost(server.url, { key: creator });
    const made = await lapsed();
    const refused = await host.refused(
      "formbridge_brief_set",
      { resumeToken: made.resumeToken, fields: { name: "x" } },
      "token_expired",
    );
    expect(refused.error.nextActions).toEqual([
      { action: "reissue_token", hint: expect.stringMatching(/formbridge_\w+/) },
    ]);
    const status = await host.done("formbridge_brief_status", { [by]: made[by] });
    expect(status).toMatchObject({ reissued: true, version: 2, message: expect.stringContaining("expired") });
    expect(status.resumeToken).not.toBe(made.resumeToken);
    const set = await host.done("formbridge_brief_set", { resumeToken: status.resumeToken, fields: { name: "Eve" } });
    expect(set.version).toBe(3);
    const again = await host.done("formbridge_brief_status", { submissionId: made.submissionId });
    expect(again).not.toHaveProperty("reissued");
    expect(again.resumeToken).toBe(set.resumeToken);
    await host.close();
  });

  it("[AUDIT-F1] does so only for a key that may hold the token, and only while it can be edited", async () => {
    const { submissionId, resumeToken } = await lapsed();
    const other = await connectHost(server.url, { key: viewer });
    expect(await other.done("formbridge_brief_status", { submissionId })).toMatchObject({ version: 1 });
    await other.close();
    const nobody = await connectHost(server.url);
    await nobody.refused("formbridge_brief_status", { resumeToken }, "token_expired");
    await nobody.close();
    await server.call("DELETE", `/submissions/${submissionId}`, { key: creator });
    server.clock.advance(2 * HOUR);
    const host = await connectHost(server.url, { key: creator });
    const ended = await host.done("formbridge_brief_status", { submissionId });
    expect(ended).toMatchObject({ state: "cancelled", version: 2 });
    expect(ended).not.toHaveProperty("resumeToken");
    await host.close();
  });

  it("[AUDIT-F1] not after a revocation, which only an operator can undo", async () => {
    const { submissionId } = await lapsed();
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    server.clock.advance(2 * HOUR);
    const host = await connectHost(server.url, { key: creator });
    const status = await host.done("formbridge_brief_status", { submissionId });
    expect(status.version).toBe(2);
    expect(status).not.toHaveProperty("resumeToken");
    await host.close();
  });

  it("[AUDIT-F1] does not affect the human at work: their session continues", async () => {
    const made = await create(server, "brief", { key: creator });
    const session = await visit(server, await handOff(server, made.resumeToken));
    server.clock.advance(2 * HOUR);
    const host = await connectHost(server.url, { key: creator });
    await Promise.all([1, 2, 3].map(() => host.done("formbridge_brief_status", { submissionId: made.submissionId })));
    await host.close();
    expect(await eventTypes(server, made.submissionId)).not.toContain("handoff.resumed");
    const read = await session.call("GET", "");
    // However many asked at the same time, the token was renewed once.
    expect(read.body.version).toBe(2);
    expect((await session.fill({ name: "Ada" }, 2)).status).toBe(200);
  });
});

it("[AUDIT-F1] a key that may hold the token validates without naming a version; others don't", async () => {
  const { submissionId, resumeToken } = await create(server, "brief", { key: creator });
  const path = `/submissions/${submissionId}/validate`;
  for (const key of [creator, server.adminKey]) {
    const reply = await server.call("POST", path, { key, body: {} });
    expect([reply.status, reply.body.ready, reply.body.resumeToken]).toEqual([200, false, resumeToken]);
  }
  expectError(await server.call("POST", path, { key: viewer, body: {} }), 403, "forbidden");
  expectError(await server.call("POST", path, { body: {} }), 428, "token_required");
  expectError(await server.call("POST", path, { key: creator, body: { version: 7 } }), 409, "token_conflict");
});
