import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, created, createLatch, eventsOf, read, setFields, submit, until } from "../support/moves.ts";

let server: TestServer;
let rosa: string;
let otto: string;
let intakes = 0;

beforeAll(async () => {
  server = await startTestServer();
  rosa = await reviewer("rosa");
  otto = await reviewer("otto");
});
afterAll(() => server.stop());

const reviewer = (id: string, metadata?: Record<string, unknown>): Promise<string> =>
  server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id, ...(metadata && { metadata }) } });

/** A new intake with these gates. */
async function gated(...approvalGates: ApprovalGate[]): Promise<string> {
  intakes += 1;
  const id = `gated-${intakes}`;
  const reply = await server.putIntake({ id, approvalGates });
  expect(reply.status).toBe(201);
  return id;
}

/** Created, filled and submitted by a declared agent. */
async function submitted(intakeId: string, fields: Record<string, unknown> = { name: "Ada" }): Promise<Loose> {
  const made = await created(server, intakeId, { body: { initialFields: fields } });
  const reply = await submit(server, made.resumeToken, `submit-${made.submissionId}`);
  expect(reply.status).toBe(200);
  return reply.body;
}

const review = (id: string, key: string | undefined, body: Record<string, unknown> = {}): Promise<Reply> =>
  server.call("POST", `/submissions/${id}/review`, { body: { decision: "approved", ...body }, ...(key && { key }) });

const stateOf = async (id: string): Promise<string> => (await read(server, id, server.adminKey)).body.state;

describe("passing the gates", () => {
  it("[RUNNING-GATES-ORDER] the second gate opens when the first is passed, the destination after the last", async () => {
    const intake = await gated(
      { name: "first", reviewers: { ids: ["rosa"] } },
      { name: "second", reviewers: { ids: ["otto"] } },
    );
    const { submissionId: id, state } = await submitted(intake);
    expect(state).toBe("needs_review");
    expect((await read(server, id, server.adminKey)).body.reviewState).toMatchObject({
      gate: "first",
      requiredApprovals: 1,
    });
    expect((await review(id, otto)).status).toBe(403);
    expect((await review(id, rosa)).body.state).toBe("needs_review");
    expect((await read(server, id, server.adminKey)).body.reviewState.gate).toBe("second");
    expect((await review(id, rosa)).status).toBe(403);
    expect((await review(id, otto)).body.state).toBe("finalized");
    const told = (await eventsOf(server, id, "")).filter(({ type }) => type.startsWith("review."));
    expect(told.map(({ type, payload }) => [type, payload.gate])).toEqual([
      ["review.requested", "first"],
      ["review.approved", "first"],
      ["review.requested", "second"],
      ["review.approved", "second"],
    ]);
  });

  it("[RUNNING-GATES-FROZEN] a gate that was added later does not stop what was created before", async () => {
    const intake = await gated({ name: "check", reviewers: { ids: ["rosa"] } });
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    const waiting = await submitted(intake);
    await server.putIntake({
      id: intake,
      version: "2",
      approvalGates: [{ name: "other", reviewers: { ids: ["otto"], roles: ["reviewer"] }, requiredApprovals: 3 }],
    });
    await submit(server, made.resumeToken, "frozen");
    for (const id of [waiting.submissionId, made.submissionId]) {
      expect((await review(id, otto)).status).toBe(404);
      expect((await review(id, rosa)).body.state).toBe("finalized");
    }
    const { submissionId: fresh } = await submitted(intake);
    expect((await read(server, fresh, server.adminKey)).body.reviewState.gate).toBe("other");
  });

  it("[RUNNING-GATES-DISTINCT] two approvals are two people", async () => {
    const intake = await gated({ name: "four-eyes", reviewers: {}, requiredApprovals: 2 });
    const { submissionId: id } = await submitted(intake);
    expect((await review(id, rosa)).body.state).toBe("needs_review");
    const secondKey = await reviewer("rosa");
    for (const key of [rosa, secondKey]) {
      const again = await review(id, key);
      expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
    }
    expect((await read(server, id, server.adminKey)).body.reviewState.approvals).toHaveLength(1);
    expect((await review(id, otto)).body.state).toBe("finalized");
  });

  it("[RUNNING-GATES-RACE] approvals at the same moment all count", async () => {
    const intake = await gated({ name: "many", reviewers: {}, requiredApprovals: 4 });
    const { submissionId: id } = await submitted(intake);
    const keys = await Promise.all(["r1", "r2", "r3", "r4"].map((name) => reviewer(name)));
    const { store } = server.server.core.backend;
    const { commit } = store;
    const latch = createLatch();
    let held = 0;
    store.commit = async (change) => {
      held += 1;
      await latch.opened;
      return await commit(change);
    };
    const reviews = keys.map((key) => review(id, key));
    await until(() => held >= 4 || undefined);
    store.commit = commit;
    latch.open();
    const replies = await Promise.all(reviews);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await stateOf(id)).toBe("finalized");
    const told = await eventsOf(server, id, "types=review.approved");
    expect(told.map(({ actor }) => actor.id).sort()).toEqual(["r1", "r2", "r3", "r4"]);
  });

  it("[RUNNING-GATES-FRESH] after a rejection every gate has to be passed again", async () => {
    const intake = await gated(
      { name: "first", reviewers: { ids: ["rosa", "otto"] }, requiredApprovals: 2 },
      { name: "second", reviewers: { ids: ["otto"] } },
    );
    const { submissionId: id } = await submitted(intake);
    await review(id, rosa);
    await review(id, otto);
    await review(id, otto, { decision: "rejected", reasons: ["the name is wrong"] });
    const { resumeToken } = (await read(server, id, server.adminKey)).body;
    const mended = await setFields(server, resumeToken, { name: "Grace" });
    expect(mended.body.state).toBe("in_progress");
    expect((await submit(server, mended.body.resumeToken, "again")).body.state).toBe("needs_review");
    expect((await read(server, id, server.adminKey)).body.reviewState).toMatchObject({ gate: "first", approvals: [] });
    expect((await review(id, rosa)).body.state).toBe("needs_review");
    expect((await read(server, id, server.adminKey)).body.reviewState.gate).toBe("first");
  });

  it("[RUNNING-GATES-ROTATE] a review changes version and token, and is recorded with its reviewer", async () => {
    const { submissionId: id, version, resumeToken } = await submitted(await gated({ name: "check", reviewers: {} }));
    const reply = await review(id, rosa);
    expect(reply.body).toMatchObject({
      ok: true,
      version: version + 1,
      decision: "approved",
      reviewedBy: { kind: "human", id: "rosa" },
      reviewedAt: new Date(server.clock.now()).toISOString(),
    });
    const [approved] = await eventsOf(server, id, "types=review.approved");
    expect(approved.actor).toEqual({ kind: "human", id: "rosa", proof: "key" });
    expect((await read(server, id, server.adminKey)).body.resumeToken).not.toBe(resumeToken);
  });
});

describe("rules that approve", () => {
  it.each([
    ["a field", { "<=": [{ var: "fields.amount" }, 50] }, { name: "Ada", amount: 50 }, { name: "Ada", amount: 51 }],
    ["a missing field", { "!!": { missing: ["fields.note"] } }, { name: "Ada" }, { name: "Ada", note: "x" }],
    ["truth alone", { var: "fields.amount" }, { name: "Ada", amount: true }, { name: "Ada", amount: 1 }],
  ])("[RUNNING-GATES-AUTO] %s decides", async (_what, rule, passes, waits) => {
    intakes += 1;
    const id = `gated-${intakes}`;
    await server.putIntake({
      id,
      schema: { type: "object", required: ["name"] },
      approvalGates: [{ name: "small", reviewers: {}, autoApproveIf: rule }],
    });
    const done = await submitted(id, passes);
    expect(done.state).toBe("finalized");
    const [approved] = await eventsOf(server, done.submissionId, "types=review.approved");
    expect(approved).toMatchObject({ actor: { kind: "system" }, payload: { auto: true } });
    expect((await submitted(id, waits)).state).toBe("needs_review");
  });

  it("[RUNNING-GATES-AUTO] a rule sees the submission and the actor who submits", async () => {
    const intake = await gated({
      name: "trusted",
      reviewers: {},
      autoApproveIf: {
        and: [
          { "==": [{ var: "actor.id" }, "bot"] },
          { "==": [{ var: "submission.intakeId" }, `gated-${intakes + 1}`] },
        ],
      },
    });
    const submittedBy = async (id: string) => {
      const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id } });
      const made = await created(server, intake, { key, body: { initialFields: { name: "Ada" } } });
      return (await submit(server, made.resumeToken, `by-${id}`, { key })).body.state;
    };
    expect(await submittedBy("bot")).toBe("finalized");
    expect(await submittedBy("other")).toBe("needs_review");
  });

  it("[AUDIT-F34] a declared id does not satisfy a rule", async () => {
    const byId = { name: "trusted", reviewers: {}, autoApproveIf: { "==": [{ var: "actor.id" }, "bot"] } };
    expect((await submitted(await gated(byId))).state).toBe("needs_review");
    const declared = { ...byId, autoApproveIf: { "==": [{ var: "actor.declared" }, true] } };
    expect((await submitted(await gated(declared))).state).toBe("finalized");
  });

  it("[AUDIT-F34] a rule that reads an absent field is false, unless it has a default", async () => {
    const small = { name: "small", reviewers: {}, autoApproveIf: { "<": [{ var: "fields.amount" }, 100] } };
    expect((await submitted(await gated(small))).state).toBe("needs_review");
    const byDefault = { ...small, autoApproveIf: { "<": [{ var: ["fields.amount", 0] }, 100] } };
    expect((await submitted(await gated(byDefault))).state).toBe("finalized");
  });

  it("[RUNNING-GATES-AUTO] [RUNNING-GATES-ORDER] a gate that approves automatically passes on to the next", async () => {
    const intake = await gated(
      { name: "auto", reviewers: {}, autoApproveIf: true },
      { name: "person", reviewers: { ids: ["rosa"] } },
    );
    const { submissionId: id, state } = await submitted(intake);
    expect(state).toBe("needs_review");
    expect((await review(id, rosa)).body.state).toBe("finalized");
  });
});

describe("who may", () => {
  it("[RUNNING-GATES-OWN-WORK] nobody reviews what they submitted", async () => {
    const intake = await gated({ name: "check", reviewers: {} });
    const both = await server.makeKey({ roles: ["agent", "reviewer"], actor: { kind: "human", id: "both" } });
    const made = await created(server, intake, { key: both, body: { initialFields: { name: "Ada" } } });
    await submit(server, made.resumeToken, "own", { key: both });
    const own = await review(made.submissionId, both);
    expect([own.status, own.body.error.type]).toEqual([403, "forbidden"]);
    const byAdmin = await created(server, intake, { key: server.adminKey, body: { initialFields: { name: "Ada" } } });
    await submit(server, byAdmin.resumeToken, "own-admin", { key: server.adminKey });
    expect((await review(byAdmin.submissionId, server.adminKey)).status).toBe(403);
    expect(await stateOf(byAdmin.submissionId)).toBe("needs_review");
    expect((await review(made.submissionId, rosa)).status).toBe(200);
  });

  it("[RUNNING-GATES-REASONS] a rejection needs reasons, and they stay visible", async () => {
    const { submissionId: id } = await submitted(await gated({ name: "check", reviewers: {} }));
    for (const body of [{ decision: "rejected" }, { decision: "rejected", reasons: [] }]) {
      const reply = await review(id, rosa, body);
      expect([reply.status, reply.body.error.type]).toEqual([422, "invalid"]);
      expect(reply.body.error.fields).toContainEqual(expect.objectContaining({ path: "reasons", code: "required" }));
    }
    expect(await stateOf(id)).toBe("needs_review");
    const rejected = await review(id, rosa, { decision: "rejected", reasons: ["too vague", "no date"] });
    expect(rejected.body).toMatchObject({ state: "rejected", reasons: ["too vague", "no date"] });
    const { resumeToken } = (await read(server, id, server.adminKey)).body;
    await setFields(server, resumeToken, { name: "Grace" });
    expect((await read(server, id, server.adminKey)).body.rejections).toEqual([
      expect.objectContaining({
        gate: "check",
        reasons: ["too vague", "no date"],
        by: { kind: "human", id: "rosa", proof: "key" },
      }),
    ]);
  });

  it("[RUNNING-GATES-REVIEWERS] reviewers may be named by id, role and e-mail", async () => {
    const mail = await reviewer("mia", { email: "mia@example.com" });
    const cases: [ApprovalGate["reviewers"], string][] = [
      [{ ids: ["otto"] }, otto],
      [{ emails: ["mia@example.com"] }, mail],
      [{ roles: ["reviewer"] }, rosa],
    ];
    for (const [reviewers, key] of cases) {
      const { submissionId: id } = await submitted(await gated({ name: "named", reviewers }));
      if (key !== rosa) expect((await review(id, rosa)).status).toBe(404);
      expect((await review(id, key)).body.state).toBe("finalized");
    }
  });

  it("[RUNNING-GATES-KEY] tokens and declared actors can't review", async () => {
    const { submissionId: id, resumeToken } = await submitted(await gated({ name: "check", reviewers: {} }));
    const actor = { kind: "human", id: "rosa" };
    expect((await review(id, undefined, { actor })).status).toBe(401);
    const byToken = await server.call("POST", `/submissions/${id}/review`, {
      headers: { "if-match": resumeToken },
      body: { decision: "approved", actor },
    });
    expect(byToken.status).toBe(401);
    const agent = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
    expect((await review(id, agent)).status).toBe(404);
    expect((await review(id, viewer)).status).toBe(403);
    expect((await review(id, rosa, { actor: { kind: "human", id: "otto" } })).status).toBe(403);
    expect(await stateOf(id)).toBe("needs_review");
  });

  it("[RUNNING-GATES-VERSION] a review of another version than the current one is refused", async () => {
    const { submissionId: id, version } = await submitted(await gated({ name: "check", reviewers: {} }));
    for (const headers of [{ "if-match": `"${version - 1}"` }, { "x-intake-version": String(version + 1) }]) {
      const reply = await server.call("POST", `/submissions/${id}/review`, {
        key: rosa,
        headers: headers as Record<string, string>,
        body: { decision: "approved" },
      });
      expect([reply.status, reply.body.error.type]).toEqual([409, "token_conflict"]);
    }
    expect(await stateOf(id)).toBe("needs_review");
    const current = await server.call("POST", `/submissions/${id}/review`, {
      key: rosa,
      headers: { "if-match": `"${version}"` },
      body: { decision: "approved" },
    });
    expect(current.status).toBe(200);
  });
});
