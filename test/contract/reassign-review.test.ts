import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, type Mailbox } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf, read } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, reject, review, reviewerKey, submitted } from "../support/reviews.ts";
import { expectError, unchangedBy } from "../support/submissions.ts";

let server: TestServer;
let mailbox: Mailbox;
let rosa: string;
let otto: string;

beforeAll(async () => {
  mailbox = createMailbox();
  server = await startTestServer({ env: JOBS_BY_HAND, mailer: mailbox });
  rosa = await reviewerKey(server, "rosa");
  otto = await reviewerKey(server, "otto");
});
afterAll(() => server.stop());

const waiting = async (reviewers: Loose, more: Loose = {}): Promise<string> =>
  (await submitted(server, await gated(server, [{ name: "check", reviewers, ...more }]))).submissionId;

const reassign = (id: string, body: Loose, key = server.adminKey): Promise<Reply> =>
  server.call("POST", `/submissions/${id}/review/reassign`, { key, body: { reason: "on leave", ...body } });

describe("who reviews", () => {
  it("[AUDIT-F16] [REVIEWS-HUMANS] an agent's key can't decide, unless the gate allows agents", async () => {
    const key = await server.makeKey({ roles: ["reviewer"], actor: { kind: "agent", id: "reviewbot" } });
    for (const reviewers of [{ roles: ["reviewer"] }, { ids: ["reviewbot", "rosa"] }]) {
      const id = await waiting(reviewers);
      expectError(await review(server, id, key), 404, "not_found");
      expect((await review(server, id, rosa)).body.state).toBe("finalized");
    }
    const allowed = await waiting({ roles: ["reviewer"], allowAgents: true });
    expect((await review(server, allowed, key)).body.state).toBe("finalized");
  });

  it("[AUDIT-F16] [REVIEWS-HUMANS] an agent with other access to the submission is told why it can't decide", async () => {
    const key = await server.makeKey({ roles: ["reviewer", "viewer"], actor: { kind: "agent", id: "seer" } });
    const id = await waiting({ roles: ["reviewer"] });
    const error = expectError(await unchangedBy(server, id, () => review(server, id, key)), 403, "forbidden");
    expect(error.message).toContain("Only humans");
  });

  it("[AUDIT-F16] [REVIEWS-HUMANS] an admin decides only where the gate names it, by id or by role", async () => {
    for (const reviewers of [{}, { roles: ["reviewer"] }, { ids: ["rosa"] }]) {
      const id = await waiting(reviewers);
      const refused = await unchangedBy(server, id, () => review(server, id, server.adminKey));
      expect(expectError(refused, 403, "forbidden").message).toContain("reassign");
      const queue = await server.call("GET", "/reviews?limit=1000", { key: server.adminKey });
      expect(queue.body.items.map(({ submissionId }: Loose) => submissionId)).not.toContain(id);
    }
    for (const reviewers of [{ roles: ["admin"] }, { ids: ["admin"] }]) {
      expect((await review(server, await waiting(reviewers), server.adminKey)).body.state).toBe("finalized");
    }
  });

  it.each([["   "], ["\t\n"], ["\u200b"]])("[AUDIT-F38] the blank reason %j is refused", async (reason) => {
    const id = await waiting({ ids: ["rosa"] });
    const refused = await unchangedBy(server, id, () => reject(server, id, rosa, reason));
    expect(expectError(refused, 422, "invalid").fields[0].path).toBe("reasons");
  });
});

describe("reassigning a gate", () => {
  it("[AUDIT-F16] [REVIEWS-REASSIGNED] others decide from then on, and the history shows who reassigned it and why", async () => {
    const id = await waiting({ ids: ["rosa"] });
    const reply = await reassign(id, { reviewers: { ids: ["otto"] } });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ state: "needs_review", reviewState: { gate: "check", reviewers: ["otto"] } });
    const [event] = await eventsOf(server, id, "types=review.reassigned");
    expect(event).toMatchObject({
      actor: { kind: "human", id: "admin" },
      payload: { gate: "check", reason: "on leave", reviewers: { ids: ["otto"], roles: [], emails: 0 } },
    });
    expect((await read(server, id, server.adminKey)).body).toMatchObject({
      version: 2,
      reviewState: { reviewers: ["otto"], reassignedAt: expect.any(String) },
    });
    expectError(await review(server, id, rosa), 404, "not_found");
    const queue = await server.call("GET", "/reviews", { key: otto });
    expect(queue.body.items.map(({ submissionId }: Loose) => submissionId)).toContain(id);
    expect((await review(server, id, otto)).body.state).toBe("finalized");
  });

  it("[REVIEWS-REASSIGNED] [AUDIT-F16] agents alone are refused, unless the gate allows agents", async () => {
    await server.makeKey({ roles: ["reviewer"], actor: { kind: "agent", id: "stampbot" } });
    const id = await waiting({ ids: ["rosa"] });
    const refused = await unchangedBy(server, id, () => reassign(id, { reviewers: { ids: ["stampbot"] } }));
    const error = expectError(refused, 422, "invalid");
    expect(error.fields[0]).toMatchObject({ path: "reviewers.ids", code: "invalid_value" });
    expect((await reassign(id, { reviewers: { ids: ["stampbot", "otto"] } })).status).toBe(200);
    const open = await waiting({ ids: ["rosa"], allowAgents: true });
    expect((await reassign(open, { reviewers: { ids: ["stampbot"] } })).status).toBe(200);
  });

  it("[REVIEWS-REASSIGNED] new addresses are mailed a link, and the old link can no longer decide", async () => {
    const id = await waiting({ emails: ["old@example.com"] });
    await drain(server);
    const old = mailbox.reviewLink("old@example.com");
    expect((await reassign(id, { reviewers: { emails: ["new@example.com"] } })).status).toBe(200);
    await drain(server);
    const decide = (link: string) => server.call("POST", `/reviews/${link}`, { body: { decision: "approved" } });
    expectError(await decide(old), 403, "forbidden");
    expect((await decide(mailbox.reviewLink("new@example.com"))).body.state).toBe("finalized");
    expect(JSON.stringify(await eventsOf(server, id))).not.toContain('new@example.com"]');
  });

  it("[REVIEWS-REASSIGNED] it applies only to this review: after another submit, the definition counts", async () => {
    const intake = await gated(server, [{ name: "check", reviewers: { ids: ["rosa"] } }]);
    const { submissionId: id } = await submitted(server, intake);
    await reassign(id, { reviewers: { ids: ["otto"] } });
    const { body } = await reject(server, id, otto);
    const again = await server.call("POST", `/submissions/${id}/submit`, {
      key: server.adminKey,
      body: { idempotencyKey: `again-${id}`, version: body.version },
    });
    expect(again.body.state).toBe("needs_review");
    expect((await review(server, id, rosa)).body.state).toBe("finalized");
  });

  it.each<[string, Loose, string]>([
    ["nobody", { reviewers: {} }, "reviewers"],
    ["empty lists", { reviewers: { ids: [], roles: [] } }, "reviewers"],
    ["too few people", { reviewers: { ids: ["otto"] } }, "reviewers"],
    ["what is no address", { reviewers: { emails: ["x", "y@x.test"] } }, "reviewers.emails.0"],
    ["a blank id", { reviewers: { ids: ["otto", " ", "rosa"] } }, "reviewers.ids.1"],
    ["a blank role", { reviewers: { roles: ["reviewer", ""] } }, "reviewers.roles.1"],
    ["a blank reason", { reviewers: { roles: ["reviewer"] }, reason: " " }, "reason"],
  ])("[REVIEWS-REASSIGNED] %s is refused", async (_what, body, path) => {
    const id = await waiting({}, { requiredApprovals: 2 });
    const refused = await unchangedBy(server, id, () => reassign(id, body));
    expect(expectError(refused, 422, "invalid").fields.map((field: Loose) => field.path)).toEqual([path]);
  });

  it("[REVIEWS-REASSIGNED] it is for admins, and only for waiting gates", async () => {
    const id = await waiting({ ids: ["rosa"] });
    const reviewers = { ids: ["otto"] };
    expectError(await reassign(id, { reviewers }, rosa), 403, "forbidden");
    expectError(await reassign(id, { reviewers }, otto), 404, "not_found");
    await reject(server, id, rosa);
    expectError(await unchangedBy(server, id, () => reassign(id, { reviewers })), 409, "conflict");
  });
});
