import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  DAY,
  eventTypes,
  expectError,
  expectNoToken,
  filled,
  HOUR,
  history,
  MINUTE,
  record,
  setFields,
  submit,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let reviewer: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({
    id: "open",
    schema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 }, note: { type: "string" } },
      required: ["name"],
    },
  });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { roles: ["reviewer"] } }] });
  await server.putIntake({ id: "hooked", destination: { kind: "webhook", url: "https://receiver.invalid/hook" } });
  reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" } });
});
afterAll(() => server.stop());

const validate = (token: string): Promise<Reply> => server.call("POST", `/resume/${token}/validate`);
const review = (submissionId: string, body: object): Promise<Reply> =>
  server.call("POST", `/submissions/${submissionId}/review`, { key: reviewer, body });

/** A rejected submission, and the token to correct it with. */
async function rejected(): Promise<Loose> {
  const { submissionId } = await submitted(server, "gated");
  expect((await review(submissionId, { decision: "rejected", reasons: ["too short", "unsigned"] })).status).toBe(200);
  return await record(server, submissionId);
}

describe("creating", () => {
  it("[STATES-CREATE] without fields it is a draft of version 1", async () => {
    for (const body of [{ actor: AGENT }, { actor: AGENT, initialFields: {} }]) {
      const made = await server.call("POST", "/intakes/open/submissions", { body });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ state: "draft", version: 1, fields: {}, missingFields: ["name"] });
      expect(await record(server, made.body.submissionId)).toMatchObject({ state: "draft", version: 1 });
    }
  });

  it("[STATES-CREATE] with fields it is in progress, still version 1", async () => {
    const made = await create(server, "open", { fields: { note: "x" } });
    expect(made).toMatchObject({ state: "in_progress", version: 1, fields: { note: "x" } });
    expect(await eventTypes(server, made.submissionId)).toEqual(["submission.created", "field.updated"]);
  });
});

describe("validate", () => {
  it("[STATES-VALIDATE-KEEPS] changes neither version nor token", async () => {
    const made = await create(server, "open", { fields: { note: "x" } });
    const checked = await validate(made.resumeToken);
    expect(checked.body).toMatchObject({ version: 1, resumeToken: made.resumeToken, ready: false });
    expect(await record(server, made.submissionId)).toMatchObject({ version: 1, resumeToken: made.resumeToken });
    expect((await setFields(server, made.resumeToken, { name: "Ada" })).status).toBe(200);
  });

  it("[STATES-VALIDATE-RECORDS] missing fields lead to awaiting_input, recorded in the history", async () => {
    const made = await create(server, "open", { fields: { age: -1 } });
    const checked = await validate(made.resumeToken);
    expect(checked.status).toBe(200);
    expect(checked.body).toMatchObject({ ok: true, state: "awaiting_input", ready: false, missingFields: ["name"] });
    expect(checked.body.validationErrors.map((error: Loose) => error.path).sort()).toEqual(["age", "name"]);
    expect((await record(server, made.submissionId)).state).toBe("awaiting_input");
    expect((await history(server, made.submissionId)).at(-1)).toMatchObject({
      type: "validation.failed",
      state: "awaiting_input",
      version: 1,
    });
  });

  it("[STATES-VALIDATE-RECORDS] what is complete leads back to in_progress", async () => {
    const made = await create(server, "open", { fields: { name: "Ada" } });
    expect((await validate(made.resumeToken)).body).toMatchObject({
      state: "in_progress",
      ready: true,
      validationErrors: [],
    });
    expect((await history(server, made.submissionId)).at(-1)).toMatchObject({
      type: "validation.passed",
      state: "in_progress",
      version: 1,
    });
  });

  it("[STATES-VALIDATE-STALE] with a stale token it is a 409, as for a write", async () => {
    const made = await create(server, "open");
    const current = await filled(server, made.resumeToken, { name: "Ada" });
    const reply = await unchangedBy(server, made.submissionId, () => validate(made.resumeToken));
    expectError(reply, 409, "token_conflict");
    expect(reply.body).toMatchObject({ version: 2, resumeToken: current.resumeToken });
  });

  it("[STATES-LEAVES-AWAITING] setting fields leads from awaiting_input to in_progress", async () => {
    const made = await create(server, "open", { fields: { note: "x" } });
    await validate(made.resumeToken);
    expect(await filled(server, made.resumeToken, { note: "y" })).toMatchObject({ state: "in_progress", version: 2 });
    expect((await record(server, made.submissionId)).state).toBe("in_progress");
  });
});

describe("submit", () => {
  it("[STATES-SUBMIT-FAILED] a failure leaves the submission editable and the token current", async () => {
    const made = await create(server, "open", { fields: { note: "x" } });
    const reply = await submit(server, made.resumeToken);
    expectError(reply, 422, "missing");
    expect(reply.body).toMatchObject({ state: "awaiting_input", version: 1, resumeToken: made.resumeToken });
    expect(await record(server, made.submissionId)).toMatchObject({
      state: "awaiting_input",
      version: 1,
      resumeToken: made.resumeToken,
    });
    const mended = await filled(server, made.resumeToken, { name: "Ada" });
    expect((await submit(server, mended.resumeToken)).body.state).toBe("finalized");
  });

  it("[STATES-SUBMIT-REASON] missing comes before invalid, and all problems are listed", async () => {
    const made = await create(server, "open", { fields: { age: -1 } });
    const missing = expectError(await submit(server, made.resumeToken), 422, "missing");
    expect(missing.fields.map((field: Loose) => [field.path, field.code]).sort()).toEqual([
      ["age", "invalid_value"],
      ["name", "required"],
    ]);
    expect(missing.nextActions.map((next: Loose) => next.field).sort()).toEqual(["age", "name"]);
    const set = await filled(server, made.resumeToken, { name: "Ada" });
    const invalid = expectError(await submit(server, set.resumeToken), 422, "invalid");
    expect(invalid.fields.map((field: Loose) => field.path)).toEqual(["age"]);
  });

  it("[STATES-STORE-AT-ONCE] to the store it submits and finalizes in one version", async () => {
    const made = await create(server, "open", { fields: { name: "Ada" } });
    const reply = await submit(server, made.resumeToken);
    const now = new Date(server.clock.now()).toISOString();
    expect(reply.body).toMatchObject({ state: "finalized", version: 2, submittedAt: now, finalizedAt: now });
    const events = (await history(server, made.submissionId)).slice(2);
    expect(events.map(({ type, version }) => [type, version])).toEqual([
      ["submission.submitted", 2],
      ["submission.finalized", 2],
    ]);
  });

  it("[STATES-EDITABLE] validate and submit work in every editable state", async () => {
    const complete = { name: "Ada" };
    const draft = await create(server, "open");
    const awaiting = await create(server, "open", { fields: { note: "x" } });
    await validate(awaiting.resumeToken);
    const inProgress = await create(server, "open", { fields: complete });
    for (const { submissionId } of [draft, awaiting, inProgress]) {
      const { resumeToken } = await record(server, submissionId);
      expect((await validate(resumeToken)).status).toBe(200);
      expect([200, 422]).toContain((await submit(server, resumeToken)).status);
    }
    const mendable = await rejected();
    expect((await validate(mendable.resumeToken)).status).toBe(200);
    expect((await submit(server, mendable.resumeToken)).body.state).toBe("needs_review");
  });
});

describe("rejection", () => {
  it("[STATES-REOPEN] [STATES-REASONS-STAY] corrections reopen it, with the reasons visible, to be submitted again", async () => {
    const { submissionId, resumeToken, ...before } = await rejected();
    expect(before).toMatchObject({
      state: "rejected",
      rejections: [{ gate: "check", reasons: ["too short", "unsigned"] }],
    });
    const mended = await filled(server, resumeToken, { note: "longer" });
    expect(mended.state).toBe("in_progress");
    expect((await record(server, submissionId)).rejections).toEqual(before.rejections);
    const again = await submit(server, mended.resumeToken);
    expect(again.body.state).toBe("needs_review");
    const rejections = (await record(server, submissionId)).rejections;
    expect(rejections[0].reasons).toEqual(["too short", "unsigned"]);
    expect((await review(submissionId, { decision: "approved" })).body.state).toBe("finalized");
    expect((await record(server, submissionId)).rejections).toEqual(rejections);
  });

  it("[STATES-MEND-TIME] it leaves 24 hours, however late it comes", async () => {
    const { submissionId } = await submitted(server, "gated", { ttlMs: HOUR });
    server.clock.advance(3 * DAY);
    await review(submissionId, { decision: "rejected", reasons: ["late"] });
    const now = server.clock.now();
    const { expiresAt, resumeToken } = await record(server, submissionId);
    expect(Date.parse(expiresAt)).toBe(now + DAY);
    server.clock.advance(DAY - 1);
    expect((await filled(server, resumeToken, { note: "mended" })).state).toBe("in_progress");
    server.clock.advance(MINUTE);
    expect((await record(server, submissionId)).state).toBe("expired");
  });

  it("[STATES-MEND-TIME] it does not shorten a longer time", async () => {
    const { expiresAt, createdAt } = await rejected();
    expect(Date.parse(expiresAt)).toBe(Date.parse(createdAt) + 7 * DAY);
  });

  it("[STATES-ONLY-EDITABLE-EXPIRE] what waits for review or delivery outlives its time", async () => {
    const waiting = await submitted(server, "gated", { ttlMs: HOUR });
    const locked = await submitted(server, "hooked", { ttlMs: HOUR });
    server.clock.advance(30 * DAY);
    await server.server.core.operations.sweep();
    expect((await record(server, waiting.submissionId)).state).toBe("needs_review");
    expect((await record(server, locked.submissionId)).state).toBe("submitted");
    expect((await review(waiting.submissionId, { decision: "approved" })).body.state).toBe("finalized");
  });
});

describe("reads", () => {
  it("[STATES-READS-ALWAYS] by id a submission and its history are readable in every state", async () => {
    const draft = await create(server, "open");
    const inProgress = await create(server, "open", { fields: { name: "Ada" } });
    const awaiting = await create(server, "open", { fields: { note: "x" } });
    await validate(awaiting.resumeToken);
    const cancelled = await create(server, "open");
    await server.call("DELETE", `/resume/${cancelled.resumeToken}`);
    const expired = await create(server, "open", { ttlMs: HOUR });
    const waiting = await submitted(server, "gated");
    const turned = await rejected();
    const locked = await submitted(server, "hooked");
    const finalized = await submitted(server, "open");
    server.clock.advance(2 * HOUR);
    const states = { draft, in_progress: inProgress, awaiting_input: awaiting, cancelled, expired, finalized };
    const more = { needs_review: waiting, rejected: turned, submitted: locked };
    for (const [state, { submissionId }] of Object.entries({ ...states, ...more })) {
      const read = await record(server, submissionId);
      expect(read.state).toBe(state);
      expect(read.fields).toBeDefined();
      expect((await history(server, submissionId)).length).toBeGreaterThan(0);
    }
    expectNoToken(await server.call("GET", `/submissions/${expired.submissionId}`, { key: server.adminKey }));
  });
});
