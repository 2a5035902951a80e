import type { ApprovalGate } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf, read, setFields, submit } from "../support/moves.ts";
import { drain, gated, JOBS_BY_HAND, reject, review, reviewerKey, submitted } from "../support/reviews.ts";

const HOUR = 3_600_000;

let server: TestServer;
let rosa: string;
let boss: string;

beforeAll(async () => {
  server = await startTestServer({ env: JOBS_BY_HAND });
  rosa = await reviewerKey(server, "rosa");
  boss = await reviewerKey(server, "boss");
});
afterAll(() => server.stop());

const gate = (name: string, more: Partial<ApprovalGate> = {}): ApprovalGate => ({
  name,
  reviewers: { ids: ["rosa"], escalateTo: { ids: ["boss"] } },
  escalateAfterMs: HOUR,
  ...more,
});
const look = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const escalations = async (id: string): Promise<string[]> =>
  (await eventsOf(server, id, "types=review.escalated")).map(({ payload }) => payload.gate);
const queue = async (key: string, intake: string): Promise<Loose[]> =>
  (await server.call("GET", `/reviews?intakeId=${intake}`, { key })).body.items;

describe("escalation", () => {
  it("[REVIEWS-ESCALATED] lets the people in escalateTo decide, from then on and not before", async () => {
    const intake = await gated(server, [gate("legal")]);
    const { submissionId: id } = await submitted(server, intake);
    server.clock.advance(HOUR - 1);
    await drain(server);
    expect((await review(server, id, boss)).status).toBe(404);
    expect((await look(id)).reviewState).toMatchObject({ reviewers: ["rosa"] });
    expect((await look(id)).reviewState.escalatedAt).toBeUndefined();
    expect(await queue(boss, intake)).toEqual([]);
    server.clock.advance(1);
    await drain(server);
    expect((await look(id)).reviewState).toMatchObject({
      reviewers: ["rosa", "boss"],
      escalatedAt: new Date(server.clock.now()).toISOString(),
    });
    expect(await queue(boss, intake)).toMatchObject([{ submissionId: id, escalated: true }]);
    expect(await queue(rosa, intake)).toMatchObject([{ submissionId: id, escalated: true }]);
    expect((await read(server, id, boss)).status).toBe(200);
    expect((await review(server, id, boss)).body.state).toBe("finalized");
    expect(await escalations(id)).toEqual(["legal"]);
  });

  it("[REVIEWS-ESCALATED-ONCE] each gate that is reached escalates once, at its own time", async () => {
    const intake = await gated(server, [gate("first"), gate("second", { escalateAfterMs: 2 * HOUR })]);
    const { submissionId: id } = await submitted(server, intake);
    server.clock.advance(HOUR);
    await drain(server);
    await drain(server);
    server.clock.advance(HOUR);
    await drain(server);
    expect(await escalations(id)).toEqual(["first"]);
    await review(server, id, boss);
    expect((await look(id)).reviewState.escalatedAt).toBeUndefined();
    expect((await review(server, id, boss)).status).toBe(404);
    server.clock.advance(2 * HOUR - 1);
    await drain(server);
    expect(await escalations(id)).toEqual(["first"]);
    server.clock.advance(1);
    await drain(server);
    expect(await escalations(id)).toEqual(["first", "second"]);
  });

  it("[REVIEWS-ESCALATED-ONCE] a gate that is reached again after a rejection has its whole time again", async () => {
    const intake = await gated(server, [gate("legal")]);
    const { submissionId: id } = await submitted(server, intake);
    server.clock.advance(HOUR);
    await drain(server);
    await reject(server, id, rosa);
    const mended = await setFields(server, (await look(id)).resumeToken, { note: "mended" });
    await submit(server, mended.body.resumeToken, "again");
    server.clock.advance(HOUR - 1);
    await drain(server);
    expect(await escalations(id)).toEqual(["legal"]);
    expect((await review(server, id, boss)).status).toBe(404);
    server.clock.advance(1);
    await drain(server);
    expect(await escalations(id)).toEqual(["legal", "legal"]);
  });

  it("[REVIEWS-ESCALATED-ONCE] [DELIVERY-DOWN-TIME] is made up for when no worker ran at its time", async () => {
    const intake = await gated(server, [gate("legal")]);
    const waits = await submitted(server, intake);
    const decided = await submitted(server, intake);
    const gone = await submitted(server, intake);
    await review(server, decided.submissionId, rosa);
    await server.call("DELETE", `/submissions/${gone.submissionId}`, { key: server.adminKey });
    server.clock.advance(100 * HOUR);
    await drain(server);
    expect(await escalations(waits.submissionId)).toEqual(["legal"]);
    expect(await escalations(decided.submissionId)).toEqual([]);
    expect(await escalations(gone.submissionId)).toEqual([]);
  });

  it("[REVIEWS-ESCALATED-ONCE] a job for a gate that was passed meanwhile does not escalate the next gate", async () => {
    const intake = await gated(server, [gate("first"), gate("second")]);
    const { submissionId: id } = await submitted(server, intake);
    server.clock.advance(HOUR);
    const { backend, operations } = server.server.core;
    const [job] = await backend.jobs.claim({ limit: 1, leaseMs: HOUR, perLane: 1, busy: new Map() });
    if (job === undefined) throw new Error("no job is due");
    await review(server, id, rosa);
    await operations.escalate(job);
    expect(await escalations(id)).toEqual([]);
    server.clock.advance(HOUR);
    await drain(server);
    expect(await escalations(id)).toEqual(["second"]);
  });
});

describe("definitions", () => {
  it.each([
    ["an escalation that never comes", { reviewers: { escalateTo: { ids: ["boss"] } } }, "reviewers.escalateTo"],
    ["reviewers that are nobody", { reviewers: { ids: [], emails: [] } }, "reviewers"],
    ["what is no address", { reviewers: { emails: ["a@b", "no address"] } }, "reviewers.emails.1"],
    ["two addresses in one", { reviewers: { emails: ["a@b.example,c@d.example"] } }, "reviewers.emails.0"],
    ["a line break in an address", { reviewers: { emails: ["a@b.example\nBcc: c@d"] } }, "reviewers.emails.0"],
    [
      "an address of escalateTo",
      { reviewers: { escalateTo: { emails: ["x"] } }, escalateAfterMs: 1000 },
      "reviewers.escalateTo.emails.0",
    ],
    ["an operator that nobody knows", { reviewers: {}, autoApproveIf: { exec: ["rm"] } }, "autoApproveIf.exec"],
    [
      "a loop inside a loop",
      { reviewers: {}, autoApproveIf: { all: [{ var: "fields.a" }, { some: [{ var: "b" }, true] }] } },
      "autoApproveIf.all.1.some",
    ],
  ])("[REVIEWS-DEFINITIONS] %s are refused with their location", async (_what, part, place) => {
    const reply = await server.putIntake({
      id: "never",
      approvalGates: [{ name: "check", ...part } as ApprovalGate],
    });
    expect([reply.status, reply.body.error.type]).toEqual([422, "invalid"]);
    expect(reply.body.error.fields.map(({ path }: Loose) => path)).toContain(`approvalGates.0.${place}`);
  });

  it("[REVIEWS-DEFINITIONS] reviewers may be named before they exist", async () => {
    const reply = await server.putIntake({
      id: "early",
      approvalGates: [{ name: "check", reviewers: { ids: ["not-yet"], roles: ["compliance"] } }],
    });
    expect(reply.status).toBe(201);
  });
});
