import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, inLink, openSession, visit, visitor } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { allOf, create, DAY, expectError, expectGone, HOUR, MINUTE, record } from "../support/submissions.ts";

const JANE = { kind: "human", id: "jane" };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
});
afterAll(() => server.stop());

const make = (fields: Loose = {}, intake = "forms"): Promise<Loose> => create(server, intake, { fields });

describe("when a session ends", () => {
  it("[HANDOFF-EXPIRED] [HANDOFF-TTL] at its own expiry, which for a QR code's session counts from its opening", async () => {
    const { submissionId, resumeToken } = await make();
    const plain = await handOff(server, resumeToken, { expiresInMs: HOUR });
    const [human, qr] = [await visit(server, plain), await handOff(server, resumeToken, { kind: "qr" })];
    server.clock.advance(10 * MINUTE);
    const opened = await openSession(server, qr, { carrier: "header" });
    expect(Date.parse(opened.body.expiresAt)).toBe(server.clock.now() + DAY);
    server.clock.advance(51 * MINUTE);
    for (const reply of [
      await human.call("GET", ""),
      await human.fill({ note: "x" }, 1),
      await openSession(server, plain),
    ]) {
      const error = expectGone(reply, "token_expired");
      expect(error).toMatchObject({ reason: "ttl_elapsed", canRecover: true, recoveryMethod: "request_handoff" });
      expect(error.expiredAt).toBe(plain.expiresAt);
    }
    expectGone(await openSession(server, qr), "token_expired");
    const scanned = visitor(server, submissionId, opened.body.session);
    expect((await scanned.fill({ note: "in time" }, 1)).status).toBe(200);
  });

  it("[HANDOFF-REVOKED] by a revocation, at once: link, reads and writes; the others continue", async () => {
    const { submissionId, resumeToken } = await make();
    const [one, two] = [await handOff(server, resumeToken), await handOff(server, resumeToken)];
    const [first, again, other] = [await visit(server, one), await visit(server, one), await visit(server, two)];
    const revoke = () =>
      server.call("DELETE", `/submissions/${submissionId}/handoffs/${one.handoffId}`, {
        key: server.adminKey,
        body: { reason: "wrong person" },
      });
    const revoked = await revoke();
    expect(revoked.body).toMatchObject({ handoffId: one.handoffId, revoked: true, version: 1, resumeToken });
    server.clock.advance(MINUTE);
    expect((await revoke()).body.revokedAt).toBe(revoked.body.revokedAt);
    for (const reply of [
      await first.call("GET", ""),
      await again.fill({ note: "x" }, 1),
      await again.call("DELETE", "", { body: { version: 1 } }),
      await openSession(server, one),
    ]) {
      expect(expectGone(reply, "token_expired")).toMatchObject({
        reason: "handoff_revoked",
        expiredAt: revoked.body.revokedAt,
      });
    }
    expect((await other.fill({ note: "still here" }, 1)).status).toBe(200);
    const nothing = await server.call("DELETE", `/submissions/${submissionId}/handoffs/hof_x`, {
      key: server.adminKey,
      body: {},
    });
    expectError(nothing, 404, "not_found");
  });

  it("[HANDOFF-REVOKED] by a revocation, with the links that were created in it for later", async () => {
    const { submissionId, resumeToken } = await make();
    const handoff = await handOff(server, resumeToken);
    const human = await visit(server, handoff);
    const continued = async (from: typeof human) => {
      const made = await from.call("POST", "/handoffs", { body: { kind: "session", version: 1 } });
      expect(made.status).toBe(201);
      return made.body;
    };
    const later = await continued(human);
    const phone = await visit(server, later);
    const evenLater = await continued(phone);
    const path = `/resume/${resumeToken}/handoffs`;
    expect((await server.call("DELETE", `${path}/${handoff.handoffId}`, { body: {} })).status).toBe(200);
    for (const reply of [
      await phone.call("GET", ""),
      await phone.fill({ note: "x" }, 1),
      await openSession(server, later),
      await openSession(server, evenLater),
    ]) {
      expect(expectGone(reply, "token_expired")).toMatchObject({ reason: "handoff_revoked" });
    }
    const log = await server.call("GET", `/events?submissionId=${submissionId}&stream=token&types=token.expired`, {
      key: server.adminKey,
    });
    const ids = [handoff, later, evenLater].map(({ handoffId }) => handoffId);
    expect(log.body.items.map(({ payload }: Loose) => payload.handoffId).toSorted()).toEqual(ids.toSorted());
  });

  it("[HANDOFF-REVOKED] a write and a revocation at the same time: the write commits before it, or not at all", async () => {
    for (let round = 0; round < 10; round++) {
      const { submissionId, resumeToken } = await make();
      const handoff = await handOff(server, resumeToken);
      const human = await visit(server, handoff);
      const [wrote, revoked] = await Promise.all([
        human.fill({ note: "racing" }, 1),
        server.call("DELETE", `/submissions/${submissionId}/handoffs/${handoff.handoffId}`, {
          key: server.adminKey,
          body: {},
        }),
      ]);
      expect(revoked.status).toBe(200);
      expect([200, 410]).toContain(wrote.status);
      const { version } = await record(server, submissionId);
      expect(version).toBe(wrote.status === 200 ? 2 : 1);
      expectGone(await human.fill({ note: "late" }, version), "token_expired");
    }
  });

  it("[HANDOFF-EPOCH] with the submission's tokens, revoked or reissued", async () => {
    for (const act of ["revoke", "reissue"]) {
      const { submissionId, resumeToken } = await make();
      const handoff = await handOff(server, resumeToken);
      const human = await visit(server, handoff);
      const at = `/submissions/${submissionId}`;
      await server.call("POST", `${at}/tokens/${act}`, { key: server.adminKey, body: {} });
      expectGone(await human.call("GET", ""), "token_expired");
      expectGone(await openSession(server, handoff), "token_expired");
      const fresh = await server.call("POST", `${at}/handoffs`, { key: server.adminKey, body: { version: 2 } });
      expect((await (await visit(server, fresh.body)).call("GET", "")).status).toBe(200);
    }
  });

  it("[HANDOFF-ENDS] with the submission, whose outcome it can still read, and not while it waits for a reviewer", async () => {
    const { submissionId, resumeToken } = await make({ name: "Ada" }, "gated");
    const handoff = await handOff(server, resumeToken);
    const human = await visit(server, handoff);
    const sent = await human.call("POST", "/submit", { body: { version: 1, idempotencyKey: "to-the-gate" } });
    expect(sent.body.state).toBe("needs_review");
    expect((await human.call("GET", "")).body.state).toBe("needs_review");
    expectError(await human.fill({ note: "locked" }, 2), 409, "needs_approval");
    const review = { key: server.adminKey, body: { decision: "approved" } };
    expect((await server.call("POST", `/submissions/${submissionId}/review`, review)).body.state).toBe("finalized");
    const seen = await human.call("GET", "");
    expect([seen.status, seen.body.state, seen.body.fields]).toEqual([200, "finalized", { name: "Ada" }]);
    expect(seen.body).not.toHaveProperty("resumeToken");
    expectGone(await human.fill({ note: "over" }, 3), "token_expired");
    expectGone(await openSession(server, handoff), "token_expired");
    const replay = await human.call("POST", "/submit", { body: { version: 1, idempotencyKey: "to-the-gate" } });
    expect([replay.status, replay.body._idempotent]).toEqual([200, true]);
    const short = await create(server, "forms", { ttlMs: MINUTE });
    const visitorOfShort = await visit(server, await handOff(server, short.resumeToken));
    server.clock.advance(2 * MINUTE);
    expectGone(await visitorOfShort.call("GET", ""), "expired");
  });
});

it("[HANDOFF-AUDITED] opening, reading and revoking are recorded in the token stream, a second revocation is not", async () => {
  const { submissionId, resumeToken } = await make();
  const handoff = await handOff(server, resumeToken);
  const human = await visit(server, handoff, JANE);
  await human.call("GET", "");
  for (const _ of ["once", "again"]) {
    await server.call("DELETE", `/resume/${resumeToken}/handoffs/${handoff.handoffId}`, { body: {} });
  }
  await server.server.core.operations.flushAudit();
  const { body } = await server.call("GET", `/submissions/${submissionId}/events?stream=token`, {
    key: server.adminKey,
  });
  const told = body.events.filter(({ payload }: Loose) => payload.handoffId === handoff.handoffId);
  expect(told.map(({ type, actor, payload }: Loose) => [type, actor.id, payload.reason ?? payload.operation])).toEqual([
    ["token.accessed", "jane", "openSession"],
    ["token.expired", "token_bearer", "handoff_revoked"],
    ["token.accessed", "jane", "getSubmission"],
  ]);
  for (const secret of [human.session, inLink(handoff.url)]) expect(JSON.stringify(body)).not.toContain(secret);
  expect(allOf(await human.call("GET", ""))).not.toContain(human.session);
});

it("[HANDOFF-FORGOTTEN] ended ones are removed after some time, and then unknown", async () => {
  const made = await create(server, "forms", { ttlMs: 300 * DAY });
  const handoff = await handOff(server, made.resumeToken);
  const human = await visit(server, handoff);
  server.clock.advance(9 * DAY);
  await server.server.core.operations.sweep();
  expectError(await human.call("GET", ""), 404, "token_invalid");
  const list = await server.call("GET", `/submissions/${made.submissionId}/handoffs`, { key: server.adminKey });
  expect(list.body.items).toEqual([]);
});
