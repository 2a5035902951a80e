import type { Destination } from "@formbridge/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, eventsOf, read, submit, typesOf, until } from "../support/moves.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

const POLICY = { maxAttempts: 3, initialDelayMs: 1_000, maxDelayMs: 10_000, factor: 3, jitter: false };
const LEASE_MS = 60_000;

let server: TestServer;
let courier: ScriptedCourier;
let intakes = 0;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { FORMBRIDGE_JOB_POLL_MS: "10", FORMBRIDGE_JOBS_PER_LANE: "16" } });
});
afterAll(() => server.stop());
beforeEach(() => courier.sent.splice(0));

/** A new intake with its own destination. */
async function delivered(destination: Partial<Destination> = {}, rest: Loose = {}): Promise<string> {
  intakes += 1;
  const id = `delivered-${intakes}`;
  const whole = { kind: "webhook" as const, url: "https://receiver.invalid/hook", retryPolicy: POLICY, ...destination };
  expect((await server.putIntake({ id, destination: whole, ...rest })).status).toBe(201);
  return id;
}

/** Created and submitted, without waiting for the outcome. */
async function sent(intakeId: string): Promise<Loose> {
  const made = await created(server, intakeId, { body: { initialFields: { name: "Ada" } } });
  const reply = await submit(server, made.resumeToken, `submit-${made.submissionId}`, {
    headers: { prefer: "wait=0" },
  });
  expect(reply.status).toBe(200);
  return reply.body;
}

const look = async (id: string): Promise<Loose> => (await read(server, id, server.adminKey)).body;
const once = (id: string, isSo: (record: Loose) => boolean): Promise<Loose> =>
  until(async () => {
    const record = await look(id);
    return isSo(record) ? record : undefined;
  });
const failedOnce = (id: string, attempts = 1): Promise<Loose> =>
  once(id, ({ deliveryState }) => deliveryState.attemptCount === attempts && deliveryState.inFlight !== true);
const sentFor = (id: string) => courier.sent.filter(({ submissionId }) => submissionId === id);
const deliveryEvents = async (id: string): Promise<string[]> =>
  typesOf(await eventsOf(server, id, "")).filter((type) => /^delivery|finalized/.test(type));
const retry = (id: string) =>
  server.call("POST", `/submissions/${id}/deliveries/retry`, { key: server.adminKey, body: {} });

describe("a delivery that succeeds", () => {
  it("[DELIVERY-FINALIZES] [DELIVERY-OUTBOX] finalizes the submission, and only then", async () => {
    const intake = await delivered();
    courier.next(intake, "hold");
    const { submissionId, state } = await sent(intake);
    expect(state).toBe("submitted");
    await until(() => courier.held() > 0);
    expect(await look(submissionId)).toMatchObject({ state: "submitted", deliveryState: { inFlight: true } });
    courier.release();
    const done = await once(submissionId, (record) => record.state === "finalized");
    expect(done.deliveryState).toMatchObject({ attemptCount: 1, deliveredAt: expect.any(String) });
    expect(await deliveryEvents(submissionId)).toEqual([
      "delivery.attempted",
      "delivery.succeeded",
      "submission.finalized",
    ]);
  });

  it("[DELIVERY-FINALIZES] carries what was submitted, sensitive values too", async () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, tax: { type: "string", "x-sensitive": true } },
    };
    const intake = await delivered({}, { schema });
    const made = await created(server, intake, { body: { initialFields: { name: "Ada", tax: "12-34" } } });
    await submit(server, made.resumeToken, "submit-sensitive");
    const [outgoing] = sentFor(made.submissionId);
    expect(JSON.parse(outgoing?.body ?? "")).toMatchObject({
      type: "submission.delivery",
      data: {
        deliveryId: outgoing?.deliveryId,
        submissionId: made.submissionId,
        intakeId: intake,
        fields: { name: "Ada", tax: "12-34" },
        submittedBy: { kind: "agent", id: "bot" },
      },
    });
  });
});

describe("a delivery that fails", () => {
  it("[DELIVERY-RETRIED] [DELIVERY-SAME-BODY] is retried on the schedule of its policy, with the same id and body", async () => {
    const intake = await delivered();
    courier.next(intake, { kind: "failed", error: "502" }, { kind: "failed", error: "503" });
    const { submissionId } = await sent(intake);
    const { deliveryState } = await failedOnce(submissionId);
    expect(deliveryState).toMatchObject({
      lastError: "502",
      nextAttemptAt: new Date(server.clock.now() + 1_000).toISOString(),
    });
    server.clock.advance(999);
    await server.server.worker.jobs?.drain();
    expect(sentFor(submissionId)).toHaveLength(1);
    server.clock.advance(1);
    await failedOnce(submissionId, 2);
    server.clock.advance(3_000);
    const done = await once(submissionId, ({ state }) => state === "finalized");
    expect(done.deliveryState).toMatchObject({ attemptCount: 3, deliveredAt: expect.any(String) });
    expect(done.deliveryState).not.toHaveProperty("lastError");
    const attempts = sentFor(submissionId);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(attempts.map(({ deliveryId, body }) => `${deliveryId} ${body}`)).size).toBe(1);
  });

  it("[DELIVERY-RETRIED] waits as long as the destination asks", async () => {
    const intake = await delivered();
    courier.next(intake, { kind: "failed", error: "429", retryAfterMs: 50_000 });
    const { submissionId } = await sent(intake);
    const { deliveryState } = await failedOnce(submissionId);
    expect(deliveryState.nextAttemptAt).toBe(new Date(server.clock.now() + 50_000).toISOString());
  });

  it("[DELIVERY-GIVEN-UP] [DELIVERY-RESTARTED] is given up after the last attempt, and can be restarted", async () => {
    const intake = await delivered();
    courier.next(intake, ...Array(5).fill({ kind: "failed", error: "500" }));
    const { submissionId } = await sent(intake);
    for (const [attempt, wait] of [1_000, 3_000, 0].entries()) {
      await failedOnce(submissionId, attempt + 1);
      server.clock.advance(wait);
    }
    const over = await once(submissionId, ({ deliveryState }) => deliveryState.givenUp === true);
    expect(over).toMatchObject({ state: "submitted", deliveryState: { attemptCount: 3, lastError: "500" } });
    server.clock.advance(86_400_000);
    await server.server.worker.jobs?.drain();
    expect(sentFor(submissionId)).toHaveLength(3);
    expect((await retry(submissionId)).status).toBe(200);
    expect((await failedOnce(submissionId, 4)).deliveryState.nextAttemptAt).toBeDefined();
    server.clock.advance(1_000);
    await failedOnce(submissionId, 5);
    server.clock.advance(3_000);
    expect((await once(submissionId, ({ state }) => state === "finalized")).deliveryState.attemptCount).toBe(6);
    expect(new Set(sentFor(submissionId).map(({ deliveryId }) => deliveryId)).size).toBe(1);
  });

  it("[DELIVERY-GIVEN-UP] is given up at once when a retry can't help", async () => {
    const intake = await delivered();
    courier.next(intake, { kind: "failed", error: "410", final: true });
    const { submissionId } = await sent(intake);
    await once(submissionId, ({ deliveryState }) => deliveryState.givenUp === true);
    const failed = (await eventsOf(server, submissionId, "types=delivery.failed"))[0];
    expect(failed.payload).toMatchObject({ error: "410", givenUp: true });
  });
});

describe("around an attempt", () => {
  const cancel = (id: string) => server.call("DELETE", `/submissions/${id}`, { key: server.adminKey });

  it("[DELIVERY-CANCEL] a cancel is refused during it, and nothing is sent or announced after a cancel", async () => {
    const intake = await delivered();
    courier.next(intake, "hold");
    const { submissionId } = await sent(intake);
    await until(() => courier.held() > 0);
    expect((await cancel(submissionId)).body.error).toMatchObject({ type: "conflict", retryable: true });
    courier.release({ kind: "failed", error: "reset" });
    await failedOnce(submissionId);
    expect((await cancel(submissionId)).status).toBe(200);
    const { deliveryState } = (await read(server, submissionId, server.adminKey)).body;
    expect(deliveryState).toMatchObject({ attemptCount: 1, lastError: "reset" });
    expect(deliveryState).not.toHaveProperty("nextAttemptAt");
    server.clock.advance(86_400_000);
    await server.server.worker.jobs?.drain();
    expect(sentFor(submissionId)).toHaveLength(1);
  });

  it("[DELIVERY-ONE-OUTCOME] a worker that paused beyond its lease commits nothing: the attempt after it counts", async () => {
    const intake = await delivered();
    courier.next(intake, "hold", "hold");
    const { submissionId } = await sent(intake);
    await until(() => courier.held() === 1);
    server.clock.advance(LEASE_MS);
    await until(() => courier.held() === 2);
    courier.release({ kind: "accepted" });
    const second = await once(submissionId, ({ deliveryState }) => deliveryState.attemptCount === 2);
    expect(second).toMatchObject({ state: "submitted", deliveryState: { inFlight: true } });
    courier.release({ kind: "failed", error: "late" });
    expect((await failedOnce(submissionId, 2)).deliveryState.lastError).toBe("late");
    expect(await deliveryEvents(submissionId)).toEqual(["delivery.attempted", "delivery.attempted", "delivery.failed"]);
  });

  it("[DELIVERY-FAIR] a destination that never responds does not delay the others", async () => {
    const slow = await delivered();
    const quick = await delivered();
    courier.next(slow, ...Array(16).fill("hold"));
    const stuck = await Promise.all(Array.from({ length: 20 }, () => sent(slow)));
    await until(() => courier.held() === 16);
    const { submissionId } = await sent(quick);
    await once(submissionId, ({ state }) => state === "finalized");
    expect(courier.sent.filter(({ intakeId }) => intakeId === slow)).toHaveLength(16);
    for (let held = 0; held < 16; held++) courier.release();
    for (const { submissionId: id } of stuck) await once(id, ({ state }) => state === "finalized");
  });

  it("[DELIVERY-SECRETS] is signed with its secret, its replacement, or one of the server's", async () => {
    const url = "https://receiver.invalid/hook";
    const intake = await delivered({ secret: "old" });
    courier.next(intake, { kind: "failed", error: "401" });
    const { submissionId } = await sent(intake);
    await failedOnce(submissionId);
    const renewed = { id: intake, version: "2", destination: { kind: "webhook" as const, url, secret: "new" } };
    expect((await server.putIntake(renewed)).status).toBe(200);
    server.clock.advance(1_000);
    await once(submissionId, ({ state }) => state === "finalized");
    expect(sentFor(submissionId).map(({ secrets }) => secrets)).toEqual([["old"], ["new", "old"]]);
    const bare = await sent(await delivered());
    await once(bare.submissionId, ({ state }) => state === "finalized");
    expect(sentFor(bare.submissionId)[0]?.secrets).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
  });
});

describe("deadlines of gates", () => {
  it("[DELIVERY-ESCALATES] [DELIVERY-DOWN-TIME] a gate that waited too long escalates once, even if that was noticed late", async () => {
    const gate = { name: "legal", reviewers: { ids: ["rosa"] }, escalateAfterMs: 5_000 };
    const intake = await delivered({}, { approvalGates: [gate] });
    const { submissionId } = await sent(intake);
    const escalations = async (): Promise<number> =>
      (await eventsOf(server, submissionId, "types=review.escalated")).length;
    server.clock.advance(4_999);
    await server.server.worker.jobs?.drain();
    expect(await escalations()).toBe(0);
    server.clock.advance(86_400_000);
    await until(async () => (await escalations()) > 0);
    server.clock.advance(86_400_000);
    await server.server.worker.jobs?.drain();
    expect(await escalations()).toBe(1);
    expect((await look(submissionId)).state).toBe("needs_review");
  });
});
