import { readConfig } from "@formbridge/server";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { drain, gated, JOBS_BY_HAND, reject, review, reviewerKey, submitted } from "../support/reviews.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

const HOUR = 3_600_000;
const URL = "https://ops.invalid/told?by=formbridge";

let server: TestServer;
let courier: ScriptedCourier;
let rosa: string;

beforeAll(async () => {
  courier = createScriptedCourier();
  server = await startTestServer({ courier, env: { ...JOBS_BY_HAND, FORMBRIDGE_NOTIFY_URL: URL } });
  rosa = await reviewerKey(server, "rosa");
});
afterAll(() => server.stop());
beforeEach(async () => {
  await drain(server);
  courier.sent.splice(0);
});

const told = () => courier.sent.map(({ body }) => JSON.parse(body));

it("[NOTICES-HOOK] a program is notified of what waits, escalates, comes back and ends, without values", async () => {
  const gate = { name: "legal", reviewers: { ids: ["rosa"], emails: ["kim@example.com"] }, escalateAfterMs: HOUR };
  const intakeId = await gated(server, [gate]);
  const requestedAt = new Date(server.clock.now()).toISOString();
  const { submissionId } = await submitted(server, intakeId, { fields: { name: "Secret Agent" } });
  await drain(server);
  server.clock.advance(HOUR);
  await drain(server);
  await reject(server, submissionId, rosa, "no date");
  await drain(server);
  const done = await submitted(server, intakeId);
  // A review that is decided before its request is sent needs no request.
  await drain(server);
  await review(server, done.submissionId, rosa);
  await drain(server);
  expect(told()).toEqual([
    { type: "review.requested", submissionId, intakeId, gate: "legal", requestedAt },
    { type: "review.escalated", submissionId, intakeId, gate: "legal", requestedAt },
    { type: "review.rejected", submissionId, intakeId, gate: "legal", reasons: ["no date"] },
    expect.objectContaining({ submissionId: done.submissionId }),
    expect.objectContaining({ type: "submission.finalized", submissionId: done.submissionId, intakeId }),
  ]);
  expect(JSON.stringify(told())).not.toMatch(/Secret Agent|kim@|rvw_|rtok_/);
  for (const { destination, secrets } of courier.sent) {
    expect(destination).toEqual({ kind: "webhook", url: URL });
    expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  }
});

it("[NOTICES-HOOK] is sent again with the same id and body, until it is accepted or given up", async () => {
  const intakeId = await gated(server, [{ name: "legal", reviewers: {} }]);
  // Each submission under review keeps one job: its token lapses eventually.
  const others = (await server.server.core.backend.jobs.count()) + 2;
  courier.next(intakeId, { kind: "failed", error: "503" }, { kind: "failed", error: "503", retryAfterMs: HOUR });
  await submitted(server, intakeId);
  for (let attempt = 0; attempt < 4; attempt++) {
    await drain(server);
    server.clock.advance(HOUR);
  }
  expect(courier.sent.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(courier.sent.map(({ deliveryId, body }) => `${deliveryId} ${body}`)).size).toBe(1);
  expect(courier.sent[0]?.deliveryId).toMatch(/^ntf_[0-9a-f]{32}$/);
  courier.next(intakeId, { kind: "failed", error: "410", final: true });
  await submitted(server, intakeId);
  await drain(server);
  expect(await server.server.core.backend.jobs.count()).toBe(others);
});

it("[NOTICES-HOOK] a courier that throws is retried as often as a receiver that fails, and no more", async () => {
  const intakeId = await gated(server, [{ name: "legal", reviewers: {} }]);
  const others = (await server.server.core.backend.jobs.count()) + 1;
  const broken = vi.spyOn(courier, "send").mockRejectedValue(new Error("a bug"));
  await submitted(server, intakeId);
  for (let attempt = 0; attempt < 10; attempt++) {
    await drain(server);
    server.clock.advance(6 * HOUR);
  }
  expect(broken).toHaveBeenCalledTimes(8);
  expect(await server.server.core.backend.jobs.count()).toBe(others);
  broken.mockRestore();
});

it("[NOTICES-HOOK] an invalid URL stops the start, and is not shown", () => {
  const start = () => readConfig({ FORMBRIDGE_NOTIFY_URL: "ftp://user:secret@ops.invalid" });
  expect(start).toThrow(/FORMBRIDGE_NOTIFY_URL/);
  expect(start).not.toThrow(/user:secret/);
});
