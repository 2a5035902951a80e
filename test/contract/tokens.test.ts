import { RESUME_TOKEN_PATTERN } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, visit } from "../support/handoffs.ts";
import { type CallOptions, type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  expectGone,
  expectNoToken,
  filled,
  history,
  record,
  setFields,
  submit,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let creator: string;
let viewer: string;
let reviewer: string;

const UNKNOWN = `rtok_${"A".repeat(43)}`;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { roles: ["reviewer"] } }] });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "victor" } });
  reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" } });
});
afterAll(() => server.stop());

const writes = (token: string): [string, () => Promise<Reply>][] => [
  ["setFields", () => setFields(server, token, { name: "x" })],
  ["validate", () => server.call("POST", `/resume/${token}/validate`, { body: {} })],
  ["submit", () => submit(server, token)],
  ["cancel", () => server.call("DELETE", `/resume/${token}`)],
  ["getSubmission", () => server.call("GET", `/resume/${token}`)],
  ["getEvents", () => server.call("GET", `/resume/${token}/events`)],
];

describe("which tokens there are", () => {
  it("[TOKENS-FORMAT] a token is rtok_ and 43 base64url characters", async () => {
    const made = await create(server, "open");
    expect(made.resumeToken).toMatch(/^rtok_[A-Za-z0-9_-]{43}$/);
    expect((await filled(server, made.resumeToken, { name: "x" })).resumeToken).toMatch(/^rtok_[A-Za-z0-9_-]{43}$/);
  });

  it("[TOKENS-MALFORMED] a malformed token is a 400 in every place", async () => {
    for (const bad of [
      "rtok_short",
      `rtok_${"A".repeat(44)}`,
      `rtok_${"A".repeat(42)}!`,
      `RTOK_${"A".repeat(43)}`,
      "42",
    ]) {
      for (const [, act] of writes(bad)) expectError(await act(), 400, "token_invalid");
    }
    const { submissionId } = await create(server, "open");
    const path = `/submissions/${submissionId}/fields`;
    const body = { actor: AGENT, fields: { name: "x" } };
    const byHeader = () => server.call("PATCH", path, { body, headers: { "if-match": '"rtok_short"' } });
    expectError(await unchangedBy(server, submissionId, byHeader), 400, "token_invalid");
    const byBody = () => server.call("PATCH", path, { body: { ...body, resumeToken: "rtok_short" } });
    expectError(await unchangedBy(server, submissionId, byBody), 400, "token_invalid");
  });

  it("[TOKENS-UNKNOWN] a well-formed token that was never issued is a 404", async () => {
    for (const [, act] of writes(UNKNOWN)) expectError(await act(), 404, "token_invalid");
  });

  it("[TOKENS-OTHER-SUBMISSION] a token opens no submission but its own", async () => {
    const mine = await create(server, "open");
    const other = await create(server, "open");
    const refused = await unchangedBy(server, other.submissionId, () =>
      unchangedBy(server, mine.submissionId, () =>
        server.call("PATCH", `/submissions/${other.submissionId}/fields`, {
          headers: { "if-match": mine.resumeToken },
          body: { actor: AGENT, fields: { name: "x" } },
        }),
      ),
    );
    expectError(refused, 404, "token_invalid");
    const cancel = () =>
      server.call("DELETE", `/submissions/${other.submissionId}`, { body: { resumeToken: mine.resumeToken } });
    expectError(await unchangedBy(server, other.submissionId, cancel), 404, "token_invalid");
  });
});

describe("rotation", () => {
  /** The previous token can no longer write, the new one is different, and the version is one higher. */
  async function expectRotated(before: Loose, after: Loose): Promise<void> {
    expect(after.resumeToken).toMatch(new RegExp(RESUME_TOKEN_PATTERN));
    expect(after.resumeToken).not.toBe(before.resumeToken);
    expect(after.version).toBe(before.version + 1);
    const stored = await record(server, before.submissionId);
    expect([stored.resumeToken, stored.version]).toEqual([after.resumeToken, after.version]);
  }

  it("[TOKENS-ROTATE] setFields, submit, review and cancel each issue a new token", async () => {
    const made = await create(server, "gated", { key: creator });
    expect(made.version).toBe(1);
    const set = await filled(server, made.resumeToken, { name: "Ada" });
    await expectRotated(made, set);
    const sent = (await submit(server, set.resumeToken)).body;
    await expectRotated(set, sent);
    const body = { decision: "rejected", reasons: ["no"] };
    await server.call("POST", `/submissions/${made.submissionId}/review`, { key: reviewer, body });
    const rejected = (await server.call("GET", `/submissions/${made.submissionId}`, { key: creator })).body;
    await expectRotated(sent, rejected);
    const cancelled = (await server.call("DELETE", `/resume/${rejected.resumeToken}`)).body;
    await expectRotated(rejected, cancelled);
  });

  it("[TOKENS-NOT-ROTATED] validate and reads keep token and version", async () => {
    const made = await create(server, "open", { key: creator });
    for (const [name, act] of writes(made.resumeToken)) {
      if (!["validate", "getSubmission", "getEvents"].includes(name)) continue;
      const reply = await act();
      expect(reply.status).toBe(200);
      expect(reply.body.version).toBe(1);
      const { resumeToken, version } = await record(server, made.submissionId);
      expect([resumeToken, version]).toEqual([made.resumeToken, 1]);
    }
    expect((await setFields(server, made.resumeToken, { name: "Ada" })).status).toBe(200);
  });
});

describe("who sees the token", () => {
  it("[TOKENS-SHOWN] its bearer, the key that created the submission, and an admin", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const seers = [
      await server.call("GET", `/resume/${resumeToken}`),
      await server.call("GET", `/submissions/${submissionId}`, { key: creator }),
      await server.call("GET", `/submissions/${submissionId}`, { key: server.adminKey }),
      await server.call("GET", `/resume/${resumeToken}`, { key: viewer }),
    ];
    for (const { body, headers } of seers) {
      expect(body.resumeToken).toBe(resumeToken);
      expect(body.tokenExpiresAt).toMatch(/Z$/);
      expect(headers["x-resume-token"]).toBe(resumeToken);
      expect(headers.etag).toBe(`"${resumeToken}"`);
    }
  });

  it("[TOKENS-HIDDEN] not a viewer, and not a reviewer, in reads, reviews or errors", async () => {
    const { submissionId } = await submitted(server, "gated", { key: creator });
    const path = `/submissions/${submissionId}`;
    for (const key of [viewer, reviewer]) {
      const read = await server.call("GET", path, { key });
      expect(read.status).toBe(200);
      expectNoToken(read);
      expect(read.headers.etag).toBe('"2"');
      expect(read.body.tokenExpiresAt).toBeUndefined();
      expectNoToken(await server.call("GET", `${path}/events?stream=all`, { key }));
      expectNoToken(await server.call("GET", "/submissions?fields=true", { key }));
    }
    const unreasoned = await server.call("POST", `${path}/review`, { key: reviewer, body: { decision: "rejected" } });
    expectError(unreasoned, 422, "invalid");
    expectNoToken(unreasoned);
    const approved = await server.call("POST", `${path}/review`, { key: reviewer, body: { decision: "approved" } });
    expect(approved.status).toBe(200);
    expectNoToken(approved);
    expect(approved.headers.etag).toBe('"3"');
  });

  it("[TOKENS-VERSION-ALONE] naming the right version authorizes nobody", async () => {
    const { submissionId } = await create(server, "open", { key: creator });
    const body = { actor: AGENT, fields: { name: "x" }, version: 1 };
    const headers = { "if-match": '"1"', "x-intake-version": "1" };
    const path = `/submissions/${submissionId}/fields`;
    const anybody = () => server.call("PATCH", path, { body, headers });
    expectError(await unchangedBy(server, submissionId, anybody), 428, "token_required");
    const looker = () => server.call("PATCH", path, { body: { ...body, actor: undefined }, headers, key: viewer });
    const refused = await unchangedBy(server, submissionId, looker);
    expectError(refused, 403, "forbidden");
    expectNoToken(refused);
  });
});

describe("revoking and reissuing", () => {
  const admin = (submissionId: string, what: "revoke" | "reissue", key = server.adminKey): Promise<Reply> =>
    server.call("POST", `/submissions/${submissionId}/tokens/${what}`, { key, body: {} });

  it("[TOKENS-REVOKE] after a revocation no token of the submission does anything", async () => {
    const made = await create(server, "open", { key: creator });
    const current = (await filled(server, made.resumeToken, { name: "Ada" })).resumeToken;
    const revoked = await admin(made.submissionId, "revoke");
    expect(revoked.status).toBe(200);
    expectNoToken(revoked);
    const at = new Date(server.clock.now()).toISOString();
    server.clock.advance(5000);
    for (const token of [made.resumeToken, current]) {
      for (const [, act] of writes(token)) {
        const error = expectGone(await unchangedBy(server, made.submissionId, act), "token_expired");
        expect(error).toMatchObject({ reason: "admin_revoked", expiredAt: at, expiredFor: 5000, canRecover: true });
      }
    }
    expectNoToken(await server.call("GET", `/submissions/${made.submissionId}`, { key: creator }));
  });

  it("[TOKENS-REVOKE-BY-KEY] a resume token alone revokes nothing", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    const attempts = [
      { path: `/submissions/${submissionId}`, headers: { "if-match": resumeToken } },
      { path: `/submissions/${resumeToken}`, headers: {} },
    ];
    for (const { path, headers } of attempts) {
      const refused = await unchangedBy(server, submissionId, () =>
        server.call("POST", `${path}/tokens/revoke`, { headers, body: { actor: AGENT } }),
      );
      expect([401, 403]).toContain(refused.status);
      expect(refused.body.ok).toBe(false);
    }
    expect((await setFields(server, resumeToken, { name: "still mine" })).status).toBe(200);
  });

  it("[TOKENS-REVOKE-BY-KEY] a key that may not hold the token revokes nothing", async () => {
    const { submissionId } = await submitted(server, "gated", { key: creator });
    for (const key of [viewer, reviewer]) {
      const refused = await unchangedBy(server, submissionId, () => admin(submissionId, "revoke", key));
      expectError(refused, 403, "forbidden");
    }
  });

  it("[AUDIT-F17] [TOKENS-REISSUE] a resume token alone reissues nothing, in any position", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    const attempts: [string, CallOptions][] = [
      [submissionId, { headers: { "if-match": `"${resumeToken}"` }, body: { actor: AGENT } }],
      [submissionId, { body: { actor: AGENT, resumeToken } }],
      [resumeToken, { body: { actor: AGENT } }],
    ];
    for (const [ref, options] of attempts) {
      const refused = await unchangedBy(server, submissionId, () =>
        server.call("POST", `/submissions/${ref}/tokens/reissue`, options),
      );
      expect(expectError(refused, 403, "forbidden").nextActions).toEqual([
        { action: "fetch_current_state", hint: expect.any(String) },
      ]);
      expect(refused.body).toMatchObject({ submissionId, state: "draft", version: 1, resumeToken });
    }
    expect((await setFields(server, resumeToken, { name: "still mine" })).status).toBe(200);
  });

  it.each(["reissue", "revoke"])(
    "[AUDIT-F17] a resume token alone is refused for that reason, not for a missing name, on %s",
    async (verb) => {
      const { submissionId, resumeToken } = await create(server, "open");
      const reply = await server.call("POST", `/submissions/${submissionId}/tokens/${verb}`, { body: { resumeToken } });
      expectError(reply, 403, "forbidden");
      expect(reply.body).toMatchObject({ submissionId, state: "draft", version: 1 });
    },
  );

  it("[AUDIT-F17] [TOKENS-REISSUE] a session reissues nothing, and survives the attempt", async () => {
    const { resumeToken, version } = await create(server, "open");
    const session = await visit(server, await handOff(server, resumeToken));
    const refused = await session.call("POST", "/tokens/reissue", { body: { version } });
    expectError(refused, 403, "forbidden");
    expectNoToken(refused);
    expect((await session.fill({ name: "Ada" }, version)).status).toBe(200);
  });

  it("[TOKENS-REISSUE] a token beside the key must be one of that submission", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const path = `/submissions/${submissionId}/tokens/reissue`;
    const other = await create(server, "open");
    const foreign = { resumeToken: other.resumeToken };
    expectError(await server.call("POST", path, { key: creator, body: foreign }), 404, "token_invalid");
    const reissued = await server.call("POST", path, { key: creator, body: { resumeToken } });
    expect(reissued.status).toBe(200);
    expectError(await server.call("POST", path, { key: creator, body: { resumeToken } }), 410, "token_expired");
  });

  it("[TOKENS-REISSUE] a reissued token works, and the previous one stops working without a revocation", async () => {
    const made = await create(server, "open", { key: creator });
    const reissued = await admin(made.submissionId, "reissue", creator);
    expect(reissued.status).toBe(200);
    expect(reissued.body.resumeToken).not.toBe(made.resumeToken);
    expect(expectGone(await setFields(server, made.resumeToken, { name: "x" }), "token_expired").reason).toBe(
      "admin_revoked",
    );
    expect(expectGone(await server.call("GET", `/resume/${made.resumeToken}`), "token_expired").reason).toBe(
      "admin_revoked",
    );
    expect((await setFields(server, reissued.body.resumeToken, { name: "Ada" })).status).toBe(200);
  });

  it("[TOKENS-REISSUE] after a revocation a reissue opens the submission again", async () => {
    const made = await create(server, "open", { key: creator });
    await admin(made.submissionId, "revoke");
    const { resumeToken } = (await admin(made.submissionId, "reissue")).body;
    expect((await server.call("GET", `/resume/${resumeToken}`)).body.resumeToken).toBe(resumeToken);
    expectGone(await server.call("GET", `/resume/${made.resumeToken}`), "token_expired");
  });

  it("[TOKENS-REISSUE] not for those who may not see the token", async () => {
    const { submissionId } = await submitted(server, "gated", { key: creator });
    for (const key of [viewer, reviewer]) {
      const refused = await unchangedBy(server, submissionId, () => admin(submissionId, "reissue", key));
      expectError(refused, 403, "forbidden");
      expectNoToken(refused);
    }
  });

  it("[TOKENS-ADMIN-VERSION] revoking, reissuing and expiring raise the version", async () => {
    const { submissionId } = await create(server, "open", { key: creator, ttlMs: 60_000 });
    expect((await admin(submissionId, "revoke")).body.version).toBe(2);
    expect((await admin(submissionId, "reissue")).body.version).toBe(3);
    server.clock.advance(91_000);
    expect(await record(server, submissionId)).toMatchObject({ state: "expired", version: 4 });
    expect((await history(server, submissionId)).at(-1)).toMatchObject({ type: "submission.expired", version: 4 });
  });
});
