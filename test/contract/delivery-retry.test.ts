import type { DestinationInput } from "@formbridge/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import { created, eventsOf, read, setFields, submit, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

const REFUSED = { kind: "failed", error: "The webhook answered 422.", final: true } as const;
const bot = { kind: "agent", id: "bot" } as const;

let server: TestServer;
let courier: ScriptedCourier;
let intakes = 0;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "5", FORMBRIDGE_JOBS_PER_LANE: "16" } });
});
afterAll(() => server.stop());

async function delivered(destination: Partial<DestinationInput> = {}): Promise<string> {
  intakes += 1;
  const id = `retried-${intakes}`;
  const whole = { kind: "webhook" as const, url: "https://receiver.invalid/hook", ...destination };
  expect((await server.putIntake({ id, destination: whole })).status).toBe(201);
  return id;
}

interface Dead {
  submissionId: string;
  resumeToken: string;
  intake: string;
  /** Before the submit. */
  submittedWith: string;
}

const look = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const once = (id: string, isSo: (record: Loose) => boolean): Promise<Loose> =>
  until(async () => {
    const record = await look(id);
    return isSo(record) ? record : undefined;
  });

/** Submitted, and given up. */
async function dead(): Promise<Dead> {
  const intake = await delivered();
  courier.next(intake, REFUSED);
  const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
  const { submissionId } = made;
  const reply = await submit(server, made.resumeToken, `submit-${submissionId}`, { headers: { prefer: "wait=0" } });
  expect(reply.status).toBe(200);
  await once(submissionId, ({ deliveryState }) => deliveryState.givenUp === true);
  return { submissionId, intake, resumeToken: reply.body.resumeToken, submittedWith: made.resumeToken };
}

const sentFor = (id: string) => courier.sent.filter(({ submissionId }) => submissionId === id);
const retryById = (id: string, key = server.adminKey): Promise<Reply> =>
  server.call("POST", `/submissions/${id}/deliveries/retry`, { key, body: {} });
const retryByToken = (token: string): Promise<Reply> =>
  server.call("POST", `/resume/${token}/deliveries/retry`, { body: { actor: bot } });

describe("[AUDIT-F13] after the last attempt", () => {
  it("a write and a repeated submit get delivery_failed, with what to do", async () => {
    const { submissionId, resumeToken, submittedWith } = await dead();
    const write = await setFields(server, resumeToken, { name: "Eve" });
    const again = await submit(server, submittedWith, `submit-${submissionId}`, { headers: { prefer: "wait=0" } });
    for (const { status, body } of [write, again]) {
      expect(status).toBe(409);
      expect(body).toMatchObject({
        ok: false,
        submissionId,
        state: "submitted",
        version: 2,
        deliveryState: { attemptCount: 1, givenUp: true, lastError: REFUSED.error },
        error: { type: "delivery_failed", retryable: true, nextActions: [{ action: "retry_delivery" }] },
      });
      expect(body.error.message).toContain("422");
    }
    expect(write.body.resumeToken).toBe(resumeToken);
  });

  it("the holder of the token can restart it: the response shows that, and the history who did it", async () => {
    const { submissionId, resumeToken } = await dead();
    const reply = await retryByToken(resumeToken);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ submissionId, state: "submitted", version: 2, resumeToken });
    expect(reply.body.deliveryState).toMatchObject({ attemptCount: 1, nextAttemptAt: expect.any(String) });
    expect(reply.body.deliveryState).not.toHaveProperty("givenUp");
    await once(submissionId, ({ state }) => state === "finalized");
    const [restarted] = await eventsOf(server, submissionId, "types=delivery.restarted");
    expect(restarted).toMatchObject({ actor: { ...bot, declared: true }, payload: { deliveryId: expect.any(String) } });
  });

  it("an agent over MCP is shown which tool to call, and that works", async () => {
    const { submissionId, resumeToken } = await dead();
    const host = await connectHost(server.url);
    const { error } = await host.refused(
      "formbridge_set_fields",
      { resumeToken, fields: { name: "Eve" } },
      "delivery_failed",
    );
    expect(error.nextActions[0]).toMatchObject({
      action: "retry_delivery",
      hint: expect.stringContaining("formbridge_retry_delivery"),
    });
    const body = await host.done("formbridge_retry_delivery", { resumeToken });
    expect(body.deliveryState).not.toHaveProperty("givenUp");
    await host.close();
    await once(submissionId, ({ state }) => state === "finalized");
  });

  it("the creator's key and an admin's can restart it, other keys and sessions can't", async () => {
    const creator = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "creator" } });
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "viewer" } });
    const intake = await delivered();
    courier.next(intake, REFUSED, REFUSED);
    const made = await created(server, intake, { key: creator, body: { initialFields: { name: "Ada" } } });
    await submit(server, made.resumeToken, "submit-creator", { key: creator });
    await once(made.submissionId, ({ deliveryState }) => deliveryState.givenUp === true);
    expect((await retryById(made.submissionId, viewer)).body.error.type).toBe("forbidden");
    expect((await retryById(made.submissionId, creator)).status).toBe(200);
    await once(made.submissionId, ({ deliveryState }) => deliveryState.attemptCount === 2 && deliveryState.givenUp);
    expect((await retryById(made.submissionId)).status).toBe(200);
    await once(made.submissionId, ({ state }) => state === "finalized");
    const restarts = await eventsOf(server, made.submissionId, "types=delivery.restarted");
    expect(restarts.map(({ actor }: Loose) => actor.id)).toEqual(["creator", "admin"]);
  });

  it("what was not submitted, or waits for a reviewer, is not delivered", async () => {
    const intake = await delivered();
    const open = await created(server, intake);
    expect((await retryByToken(open.resumeToken)).body.error.type).toBe("conflict");
    const approvalGates = [{ name: "legal", reviewers: { ids: ["rosa"] } }];
    const destination = { kind: "webhook" as const, url: "https://receiver.invalid/hook" };
    await server.putIntake({ id: "retried-gate", approvalGates, destination });
    const made = await created(server, "retried-gate", { body: { initialFields: { name: "Ada" } } });
    const { body } = await submit(server, made.resumeToken, "submit-gate");
    expect((await retryByToken(body.resumeToken)).body.error.type).toBe("needs_approval");
  });

  it("a submit that waits reports the first attempt in deliveryState", async () => {
    const intake = await delivered();
    courier.next(intake, { kind: "failed", error: "busy" });
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    const first = await submit(server, made.resumeToken, "submit-waiting");
    expect(first.body.deliveryState).toMatchObject({
      attemptCount: 1,
      lastError: "busy",
      nextAttemptAt: expect.any(String),
    });
    const replay = await submit(server, made.resumeToken, "submit-waiting");
    expect(replay.body).toEqual({ ...first.body, _idempotent: true });
    const locked = await setFields(server, first.body.resumeToken, { name: "Eve" });
    expect(locked.body).toMatchObject({ deliveryState: { attemptCount: 1 }, error: { type: "conflict" } });
  });
});

describe("[AUDIT-F33] one attempt at a time", () => {
  it("however many retries come at once, and a cancel is refused while it is in flight", async () => {
    for (let round = 0; round < 12; round++) {
      const { submissionId, intake } = await dead();
      courier.next(intake, "hold", { kind: "failed", error: "a second one", final: true });
      const answers = await Promise.all(Array.from({ length: 4 }, () => retryById(submissionId)));
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
      await until(() => courier.held() === 1);
      expect((await retryById(submissionId)).body.error).toMatchObject({ type: "conflict", retryable: true });
      // Jobs that are due by now were claimed before this one.
      const fence = await created(server, await delivered(), { body: { initialFields: { name: "Ada" } } });
      await submit(server, fence.resumeToken, `fence-${round}`, { headers: { prefer: "wait=10" } });
      await once(fence.submissionId, ({ state }) => state === "finalized");
      expect(sentFor(submissionId)).toHaveLength(2);
      const cancel = await server.call("DELETE", `/submissions/${submissionId}`, { key: server.adminKey });
      expect(cancel.body.error).toMatchObject({ type: "conflict", retryable: true });
      courier.release();
      expect((await once(submissionId, ({ state }) => state === "finalized")).deliveryState.attemptCount).toBe(2);
    }
  });
});
