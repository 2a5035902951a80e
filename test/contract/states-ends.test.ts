import type { Change } from "@formbridge/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  eventTypes,
  expectError,
  expectGone,
  filled,
  HOUR,
  history,
  record,
  setFields,
  submit,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let creator: string;
const reviewers: string[] = [];

const hook = { kind: "webhook", url: "https://receiver.invalid/hook" } as const;
const check = { name: "check", reviewers: { roles: ["reviewer"] } };

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "gated", approvalGates: [check] });
  await server.putIntake({ id: "two-approvals", approvalGates: [{ ...check, requiredApprovals: 2 }] });
  await server.putIntake({ id: "hooked", destination: hook });
  await server.putIntake({ id: "gated-hooked", approvalGates: [check], destination: hook });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  for (const id of ["rita", "rolf", "rosa"]) {
    reviewers.push(await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id } }));
  }
});
afterAll(() => server.stop());

const review = (submissionId: string, body: object, options: { key?: string; headers?: Record<string, string> } = {}) =>
  server.call("POST", `/submissions/${submissionId}/review`, { key: reviewers[0] ?? "", ...options, body });

/** Every call that would change a submission, made with its current token. */
const writes = (token: string): Record<string, () => Promise<Reply>> => ({
  setFields: () => setFields(server, token, { name: "x" }),
  validate: () => server.call("POST", `/resume/${token}/validate`),
  submit: () => submit(server, token),
  requestUpload: () =>
    server.call("POST", `/resume/${token}/uploads`, {
      body: { field: "w9", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 1, actor: AGENT },
    }),
  confirmUpload: () => server.call("POST", `/resume/${token}/uploads/upl_1/confirm`, { body: { actor: AGENT } }),
});

async function approved(): Promise<Loose> {
  const { submissionId } = await submitted(server, "gated-hooked");
  expect((await review(submissionId, { decision: "approved" })).body.state).toBe("approved");
  return await record(server, submissionId);
}

describe("locked", () => {
  it("[STATES-LOCKED-REVIEW] while reviewers decide every write is a 409 needs_approval", async () => {
    const { submissionId, resumeToken } = await submitted(server, "gated");
    for (const act of Object.values(writes(resumeToken))) {
      const reply = await unchangedBy(server, submissionId, act);
      const error = expectError(reply, 409, "needs_approval");
      expect(reply.body).toMatchObject({ submissionId, state: "needs_review", version: 2 });
      expect(error.nextActions[0].action).toBe("wait_for_review");
    }
  });

  it("[STATES-LOCKED-DELIVERY] once submitted or approved every write is a 409 conflict", async () => {
    const sent = await submitted(server, "hooked");
    for (const { submissionId, state, resumeToken } of [sent, await approved()]) {
      for (const act of Object.values(writes(resumeToken))) {
        const reply = await unchangedBy(server, submissionId, act);
        expect(expectError(reply, 409, "conflict").message).toContain("locked for delivery");
        expect(reply.body.state).toBe(state);
      }
    }
  });
});

describe("delivery", () => {
  /** What the commits of `act` do to the jobs of one submission, each with the state it commits. */
  async function jobsIn(submissionId: string, act: () => Promise<Reply>) {
    const { store } = server.server.core.backend;
    const { commit } = store;
    const changes: Change[] = [];
    store.commit = (change) => {
      changes.push(change);
      return commit(change);
    };
    expect((await act()).status).toBe(200);
    store.commit = commit;
    return changes
      .filter(({ row }) => row.submission.submissionId === submissionId)
      .map(({ row, jobs, dropJobs }) => ({ state: row.submission.state, jobs: jobs.map(({ key }) => key), dropJobs }));
  }

  it("is a job that is committed with the submit, or with the last approval, and dropped with a cancel", async () => {
    const open = await create(server, "hooked", { fields: { name: "Ada" } });
    const gated = await submitted(server, "gated-hooked");
    const cases = [
      { id: open.submissionId, act: () => submit(server, open.resumeToken), state: "submitted" },
      { id: gated.submissionId, act: () => review(gated.submissionId, { decision: "approved" }), state: "approved" },
    ];
    for (const { id, act, state } of cases) {
      expect(await jobsIn(id, act)).toMatchObject([{ state, jobs: expect.arrayContaining([`deliver:${id}`]) }]);
      const cancel = () => server.call("DELETE", `/submissions/${id}`, { key: server.adminKey });
      const dropJobs = expect.arrayContaining([`deliver:${id}`]);
      expect(await jobsIn(id, cancel)).toMatchObject([{ state: "cancelled", jobs: [], dropJobs }]);
    }
  });
});

describe("ended", () => {
  it("[STATES-ENDED-FINALIZED] a write is a 410 token_expired with reason finalized", async () => {
    const { submissionId, resumeToken, finalizedAt } = await submitted(server, "open");
    server.clock.advance(5000);
    for (const act of Object.values(writes(resumeToken))) {
      const reply = await unchangedBy(server, submissionId, act);
      const error = expectGone(reply, "token_expired");
      expect(error).toMatchObject({ reason: "finalized", expiredAt: finalizedAt, expiredFor: 5000, canRecover: false });
      expect(reply.body.submissionId).toBe(submissionId);
    }
  });

  it("[STATES-ENDED-CANCELLED] a write is a 410 cancelled", async () => {
    const made = await create(server, "open");
    const { resumeToken } = (await server.call("DELETE", `/resume/${made.resumeToken}`)).body;
    for (const token of [resumeToken, made.resumeToken]) {
      for (const act of Object.values(writes(token))) {
        expectGone(await unchangedBy(server, made.submissionId, act), "cancelled");
      }
    }
  });

  it("[STATES-ENDED-EXPIRED] a write is a 410 expired", async () => {
    const made = await create(server, "open", { ttlMs: HOUR });
    server.clock.advance(2 * HOUR);
    for (const act of Object.values(writes(made.resumeToken))) {
      expectGone(await unchangedBy(server, made.submissionId, act), "expired");
    }
  });

  it("[STATES-TERMINAL] nothing leads out of a final state: neither review, nor cancel, nor new tokens", async () => {
    const finalized = await submitted(server, "gated", { key: creator });
    await review(finalized.submissionId, { decision: "approved" });
    const cancelled = await create(server, "gated", { key: creator });
    await server.call("DELETE", `/resume/${cancelled.resumeToken}`);
    const expired = await create(server, "gated", { key: creator, ttlMs: HOUR });
    server.clock.advance(2 * HOUR);
    const key = server.adminKey;
    for (const { submissionId } of [finalized, cancelled, expired]) {
      const path = `/submissions/${submissionId}`;
      const acts: (() => Promise<Reply>)[] = [
        () => review(submissionId, { decision: "rejected", reasons: ["late"] }),
        () => server.call("DELETE", path, { key }),
        () => server.call("POST", `${path}/tokens/reissue`, { key, body: {} }),
        () => server.call("POST", `${path}/tokens/revoke`, { key, body: {} }),
        () => server.call("POST", `${path}/deliveries/retry`, { key, body: {} }),
      ];
      for (const act of acts) expect([409, 410]).toContain((await unchangedBy(server, submissionId, act)).status);
    }
  });
});

describe("cancel", () => {
  it("[STATES-CANCEL] every state that is not final can be cancelled", async () => {
    const draft = await create(server, "open");
    const inProgress = await create(server, "open", { fields: { note: "x" } });
    const awaiting = await create(server, "open", { fields: { note: "x" } });
    await server.call("POST", `/resume/${awaiting.resumeToken}/validate`);
    const turned = await submitted(server, "gated");
    await review(turned.submissionId, { decision: "rejected", reasons: ["no"] });
    const waiting = await submitted(server, "gated");
    const locked = await submitted(server, "hooked");
    for (const { submissionId } of [draft, inProgress, awaiting, turned, waiting, locked, await approved()]) {
      const { resumeToken, version, state } = await record(server, submissionId);
      const body = { reason: "changed my mind", actor: AGENT };
      const reply = await server.call("DELETE", `/resume/${resumeToken}`, { body });
      expect([state, reply.status]).toEqual([state, 200]);
      expect(reply.body).toMatchObject({ state: "cancelled", version: version + 1, reason: "changed my mind" });
      expect(reply.body.cancelledBy).toEqual({ ...AGENT, declared: true });
      expect((await record(server, submissionId)).state).toBe("cancelled");
      expect((await eventTypes(server, submissionId)).at(-1)).toBe("submission.cancelled");
    }
  });

  it("[STATES-CANCEL-FINALIZED] a finalized submission is a 409", async () => {
    const { submissionId, resumeToken } = await submitted(server, "open", { key: creator });
    for (const act of [
      () => server.call("DELETE", `/submissions/${submissionId}`, { key: creator }),
      () => server.call("DELETE", `/resume/${resumeToken}`),
    ]) {
      expectError(await unchangedBy(server, submissionId, act), 409, "conflict");
    }
  });

  it("[STATES-CANCEL-TWICE] the second cancel is a 410 cancelled, by key, new token or the token that cancelled", async () => {
    const made = await create(server, "open", { key: creator });
    const { resumeToken } = (await server.call("DELETE", `/resume/${made.resumeToken}`)).body;
    for (const act of [
      () => server.call("DELETE", `/submissions/${made.submissionId}`, { key: creator }),
      () => server.call("DELETE", `/resume/${resumeToken}`),
      () => server.call("DELETE", `/resume/${made.resumeToken}`),
    ]) {
      expectGone(await unchangedBy(server, made.submissionId, act), "cancelled");
    }
  });
});

describe("races", () => {
  it("[STATES-DECIDE-AGAIN] of a concurrent approval, rejection and cancel one counts, and the others get the new state", async () => {
    for (let round = 0; round < 5; round++) {
      const { submissionId } = await submitted(server, "gated", { key: creator });
      const replies = await Promise.all([
        review(submissionId, { decision: "approved" }, { key: reviewers[0] ?? "" }),
        review(submissionId, { decision: "rejected", reasons: ["no"] }, { key: reviewers[1] ?? "" }),
        server.call("DELETE", `/submissions/${submissionId}`, { key: creator }),
      ]);
      for (const reply of replies) expect([200, 409, 410]).toContain(reply.status);
      const { state } = await record(server, submissionId);
      const types = await eventTypes(server, submissionId);
      const count = (type: string): number => types.filter((known) => known === type).length;
      // A rejected submission may still be cancelled; no other combination succeeds.
      expect(["finalized", "rejected", "cancelled"]).toContain(state);
      expect(count("review.approved") + count("review.rejected")).toBeLessThanOrEqual(1);
      if (state === "finalized") expect(replies.map((reply) => reply.status)).toEqual([200, expect.anything(), 409]);
      if (state === "cancelled") expect(replies[2]?.status).toBe(200);
    }
  });

  it("[STATES-DECIDE-AGAIN] approvals at once are all counted, none is lost", async () => {
    const { submissionId } = await submitted(server, "two-approvals");
    const replies = await Promise.all(reviewers.map((key) => review(submissionId, { decision: "approved" }, { key })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 410]);
    const approvals = (await history(server, submissionId)).filter((event) => event.type === "review.approved");
    expect(new Set(approvals.map((event) => event.actor.id)).size).toBe(2);
    expect((await record(server, submissionId)).state).toBe("finalized");
  });

  it("[STATES-DECIDE-AGAIN] a cancel by key wins over a stream of writes", async () => {
    const made = await create(server, "open", { key: creator });
    const writing = (async () => {
      let token = made.resumeToken;
      for (let n = 0; n < 20; n++) {
        const reply = await setFields(server, token, { note: String(n) });
        if (reply.status !== 200) return reply.status;
        token = reply.body.resumeToken;
      }
      return 200;
    })();
    const cancelled = await server.call("DELETE", `/submissions/${made.submissionId}`, { key: creator });
    expect(cancelled.status).toBe(200);
    expect([200, 410]).toContain(await writing);
    expect((await record(server, made.submissionId)).state).toBe("cancelled");
  });

  it("[STATES-APPROVAL-VERSION] an approval of an older version than the one submitted does not count", async () => {
    const first = await submitted(server, "gated");
    const { submissionId } = first;
    const seen = first.version;
    await review(submissionId, { decision: "rejected", reasons: ["no"] }, { key: reviewers[1] ?? "" });
    const mended = await filled(server, (await record(server, submissionId)).resumeToken, { name: "Somebody else" });
    expect((await submit(server, mended.resumeToken)).body.state).toBe("needs_review");
    const body = { decision: "approved" };
    for (const headers of [{ "x-intake-version": String(seen) }, { "if-match": `"${seen}"` }]) {
      const reply = await unchangedBy(server, submissionId, () => review(submissionId, body, { headers }));
      expectError(reply, 409, "token_conflict");
    }
    const current = (await record(server, submissionId)).version;
    expect((await review(submissionId, body, { headers: { "if-match": `"${current}"` } })).body.state).toBe(
      "finalized",
    );
  });

  it("[STATES-APPROVAL-VERSION] approvals of a version that was corrected since do not add up", async () => {
    const { submissionId } = await submitted(server, "two-approvals");
    await review(submissionId, { decision: "approved" }, { key: reviewers[0] ?? "" });
    await review(submissionId, { decision: "rejected", reasons: ["no"] }, { key: reviewers[1] ?? "" });
    const mended = await filled(server, (await record(server, submissionId)).resumeToken, { note: "mended" });
    await submit(server, mended.resumeToken);
    const again = await review(submissionId, { decision: "approved" }, { key: reviewers[2] ?? "" });
    expect(again.body.state).toBe("needs_review");
    expect((await record(server, submissionId)).reviewState.approvals).toHaveLength(1);
  });
});
