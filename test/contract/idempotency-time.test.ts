import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { create, created, idempotencyKey, setFields, submit } from "../support/moves.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("how long a response is kept", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
    await server.putIntake({ id: "forms" });
  });
  afterAll(() => server.stop());

  /** Sets a field under a key, and returns what the key does `later`. */
  async function keyAfter(intakeId: string, later: number): Promise<"kept" | "free"> {
    const { resumeToken } = await created(server, intakeId);
    const move = { body: { idempotencyKey: "kept?" } };
    const first = await setFields(server, resumeToken, { note: "one" }, move);
    server.clock.advance(later);
    const other = await setFields(server, first.body.resumeToken, { note: "two" }, move);
    if (other.status === 409) return "kept";
    expect([other.status, other.body._idempotent]).toEqual([200, false]);
    return "free";
  }

  it("[IDEMPOTENCY-RETENTION] a setFields response is kept 24 hours, to the millisecond", async () => {
    await server.putIntake({ id: "kept-24h" });
    await server.putIntake({ id: "free-24h" });
    expect(await keyAfter("kept-24h", DAY - 1)).toBe("kept");
    expect(await keyAfter("free-24h", DAY)).toBe("free");
  });

  it("[IDEMPOTENCY-RETENTION] a replay does not extend a record's life", async () => {
    await server.putIntake({ id: "no-longer" });
    const { resumeToken } = await created(server, "no-longer");
    const move = { body: { idempotencyKey: "no-longer" } };
    const first = await setFields(server, resumeToken, { note: "one" }, move);
    server.clock.advance(DAY - 1);
    expect((await setFields(server, resumeToken, { note: "one" }, move)).body._idempotent).toBe(true);
    server.clock.advance(1);
    expect((await setFields(server, first.body.resumeToken, { note: "two" }, move)).status).toBe(200);
  });

  it("[IDEMPOTENCY-RETENTION-INTAKE] an intake sets its own time", async () => {
    await server.putIntake({ id: "kept-minute", idempotency: { ttlMs: 60_000 } });
    await server.putIntake({ id: "free-minute", idempotency: { ttlMs: 60_000 } });
    expect(await keyAfter("kept-minute", 59_999)).toBe("kept");
    expect(await keyAfter("free-minute", 60_000)).toBe("free");
  });

  it("[IDEMPOTENCY-RETENTION-END] a create's record is kept until a day after its submission ended", async () => {
    const body = { idempotencyKey: idempotencyKey("long-create") };
    const first = await created(server, "forms", { body });
    server.clock.advance(5 * DAY);
    expect((await create(server, "forms", { body })).body.submissionId).toBe(first.submissionId);
    await server.call("DELETE", `/submissions/${first.submissionId}`, { key: server.adminKey });
    server.clock.advance(DAY - 1);
    expect((await create(server, "forms", { body })).body.submissionId).toBe(first.submissionId);
    server.clock.advance(1);
    const anew = await create(server, "forms", { body });
    expect([anew.status, anew.body._idempotent]).toEqual([201, false]);
  });

  it("[IDEMPOTENCY-RETENTION-END] a submit's record is kept until a day after its submission ended", async () => {
    await server.putIntake({ id: "reviewed", approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }] });
    const { resumeToken, submissionId } = await created(server, "reviewed", {
      body: { initialFields: { name: "Ada" } },
    });
    const first = await submit(server, resumeToken, "long-submit");
    expect(first.body.state).toBe("needs_review");
    server.clock.advance(3 * DAY);
    const review = await server.call("POST", `/submissions/${submissionId}/review`, {
      key: server.adminKey,
      body: { decision: "approved" },
    });
    expect(review.body.state).toBe("finalized");
    server.clock.advance(DAY - 1);
    const kept = await submit(server, resumeToken, "long-submit");
    expect(kept.body).toEqual({ ...first.body, _idempotent: true });
    server.clock.advance(1);
    const free = await submit(server, resumeToken, "long-submit");
    expect([free.status, free.body.error.reason]).toEqual([410, "finalized"]);
  });

  it("[IDEMPOTENCY-EXPIRED-CREATE] a create retried after expiry is a 410, without a token", async () => {
    const body = { idempotencyKey: idempotencyKey("expired"), ttlMs: 60_000 };
    await created(server, "forms", { body });
    server.clock.advance(60_000 + 30_000);
    const late = await create(server, "forms", { body });
    expect([late.status, late.body.error.type]).toEqual([410, "expired"]);
    expect(JSON.stringify(late.body)).not.toContain("rtok_");
    expect(late.headers).not.toHaveProperty("x-resume-token");
  });

  it("[IDEMPOTENCY-EXPIRED-CREATE] after another end or a cancel the create is still replayed", async () => {
    const cancelled = { idempotencyKey: idempotencyKey("cancelled") };
    const finalized = { idempotencyKey: idempotencyKey("finalized"), initialFields: { name: "Ada" } };
    const one = await created(server, "forms", { body: cancelled });
    await server.call("DELETE", `/resume/${one.resumeToken}`);
    const two = await created(server, "forms", { body: finalized });
    await submit(server, two.resumeToken, "finalize");
    const replies = [
      await create(server, "forms", { body: cancelled }),
      await create(server, "forms", { body: finalized }),
    ];
    expect(replies.map(({ status, body }) => [status, body.state])).toEqual([
      [200, "cancelled"],
      [200, "finalized"],
    ]);
  });

  it("[IDEMPOTENCY-TEST-TTL] with test headers enabled, a record may have a shorter life", async () => {
    const move = {
      body: { idempotencyKey: idempotencyKey("short-lived") },
      headers: { "x-idempotency-ttl": "1000" },
    };
    const first = await created(server, "forms", move);
    server.clock.advance(999);
    expect((await create(server, "forms", move)).body.submissionId).toBe(first.submissionId);
    server.clock.advance(1);
    expect((await create(server, "forms", move)).status).toBe(201);
  });

  it("[IDEMPOTENCY-DISABLED] an intake without idempotency ignores keys, except on submit", async () => {
    await server.putIntake({ id: "unguarded", idempotency: { enabled: false } });
    const body = { idempotencyKey: idempotencyKey("ignored"), initialFields: { name: "Ada" } };
    const first = await created(server, "unguarded", { body });
    const second = await created(server, "unguarded", { body });
    expect(second.submissionId).not.toBe(first.submissionId);
    const move = { body: { idempotencyKey: "ignored" } };
    const one = await setFields(server, first.resumeToken, { note: "x" }, move);
    const two = await setFields(server, one.body.resumeToken, { note: "x" }, move);
    expect(two.body.version).toBe(3);
    const sent = await submit(server, two.body.resumeToken, "guarded");
    const again = await submit(server, two.body.resumeToken, "guarded");
    expect(again.body).toEqual({ ...sent.body, _idempotent: true });
  });
});

describe("settings", () => {
  it("[IDEMPOTENCY-TEST-TTL] with test headers disabled, the header has no effect", async () => {
    const server = await startTestServer({ store: "memory", env: { FORMBRIDGE_ALLOW_TEST_HEADERS: "0" } });
    await server.putIntake({ id: "forms" });
    const move = { body: { idempotencyKey: idempotencyKey("honest") }, headers: { "x-idempotency-ttl": "1000" } };
    const first = await created(server, "forms", move);
    server.clock.advance(HOUR);
    expect((await create(server, "forms", move)).body.submissionId).toBe(first.submissionId);
    await server.stop();
  });

  it("[IDEMPOTENCY-RETENTION-SETTING] one setting is both the life of a record and its life after the end", async () => {
    const server = await startTestServer({ store: "memory", env: { FORMBRIDGE_IDEMPOTENCY_TTL_MS: String(HOUR) } });
    await server.putIntake({ id: "forms" });
    const body = { idempotencyKey: idempotencyKey("hour") };
    const { resumeToken } = await created(server, "forms", { body });
    const move = { body: { idempotencyKey: "hour" } };
    const set = await setFields(server, resumeToken, { note: "one" }, move);
    server.clock.advance(HOUR);
    const other = await setFields(server, set.body.resumeToken, { note: "two" }, move);
    expect(other.status).toBe(200);
    await server.call("DELETE", `/resume/${other.body.resumeToken}`);
    server.clock.advance(HOUR - 1);
    expect((await create(server, "forms", { body })).status).toBe(200);
    server.clock.advance(1);
    expect((await create(server, "forms", { body })).status).toBe(201);
    await server.stop();
  });
});
