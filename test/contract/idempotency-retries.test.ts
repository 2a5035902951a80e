import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, eventsOf, idempotencyKey, read, setFields, submit } from "../support/moves.ts";

let server: TestServer;
let agentKey: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({ id: "unguarded", idempotency: { enabled: false } });
  agentKey = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

const filled = { body: { initialFields: { name: "Ada" } } };
/** Written with the refusal: no flush is needed. */
const conflictsOf = (submissionId: string) =>
  eventsOf(server, submissionId, "stream=idempotency&types=idempotency.conflict");

describe("a submit whose response got lost", () => {
  it("[IDEMPOTENCY-SAME-SUBMIT] is replayed to a caller who reads the new token and retries", async () => {
    const { resumeToken, submissionId } = await created(server, "forms", { key: agentKey, ...filled });
    const lost = await submit(server, resumeToken, "lost-answer", { key: agentKey });
    const { body } = await read(server, submissionId, agentKey);
    expect(body.resumeToken).not.toBe(resumeToken);
    const retried = await submit(server, body.resumeToken, "lost-answer", { key: agentKey });
    expect([retried.status, retried.headers["idempotent-replayed"]]).toEqual([200, "true"]);
    expect(retried.body).toEqual({ ...lost.body, _idempotent: true });
    expect(await eventsOf(server, submissionId, "types=submission.submitted")).toHaveLength(1);
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is replayed only to the holder of the current token", async () => {
    const { resumeToken } = await created(server, "forms", filled);
    const done = await submit(server, resumeToken, "bearer-retries");
    const retried = await submit(server, done.body.resumeToken, "bearer-retries");
    expect([retried.status, retried.body._idempotent]).toEqual([200, true]);
  });

  it("[IDEMPOTENCY-SAME-SUBMIT] is a 409 once something was written since", async () => {
    const gate = { name: "legal", reviewers: { ids: ["eve"] } };
    await server.putIntake({ id: "reviewed", approvalGates: [gate] });
    const reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "eve" } });
    const { resumeToken, submissionId } = await created(server, "reviewed", { key: agentKey, ...filled });
    const sent = await submit(server, resumeToken, "reviewed-once", { key: agentKey });
    expect(sent.body.state).toBe("needs_review");
    const rejected = await server.call("POST", `/submissions/${submissionId}/review`, {
      key: reviewer,
      body: { decision: "rejected", reasons: ["the name is wrong"] },
    });
    expect(rejected.status).toBe(200);
    const { body } = await read(server, submissionId, agentKey);
    const mended = await setFields(server, body.resumeToken, { name: "Bea" }, { key: agentKey });
    const again = await submit(server, mended.body.resumeToken, "reviewed-once", { key: agentKey });
    expect([again.status, again.body.error.type]).toEqual([409, "conflict"]);
    // The original's token still gets the original's response.
    const original = await submit(server, resumeToken, "reviewed-once", { key: agentKey });
    expect(original.body).toEqual({ ...sent.body, _idempotent: true });
  });
});

describe("[AUDIT-F20] the event of a replay", () => {
  it("is numbered by its own key and names the event of the original", async () => {
    const body = { idempotencyKey: idempotencyKey("numbered"), initialFields: { name: "Ada" } };
    const { resumeToken, submissionId } = await created(server, "forms", { body });
    const move = { body: { idempotencyKey: "numbered" } };
    const set = await setFields(server, resumeToken, { note: "x" }, move);
    const sent = await submit(server, set.body.resumeToken, "numbered");
    expect(sent.status).toBe(200);
    for (let round = 0; round < 2; round++) {
      await create(server, "forms", { body });
      await setFields(server, resumeToken, { note: "x" }, move);
      await submit(server, set.body.resumeToken, "numbered");
    }
    const events = await eventsOf(server, submissionId, "limit=1000");
    const idOf = (type: string) => events.find((event) => event.type === type)?.eventId;
    const replays = events.filter(({ type }) => type === "submission.replayed").map(({ payload }) => payload);
    const wanted = [
      ["create", 1, idOf("submission.created")],
      ["setFields", 1, events.findLast(({ type }) => type === "field.updated")?.eventId],
      ["submit", 1, idOf("submission.submitted")],
      ["create", 2, idOf("submission.created")],
      ["setFields", 2, events.findLast(({ type }) => type === "field.updated")?.eventId],
      ["submit", 2, idOf("submission.submitted")],
    ];
    expect(
      replays.map(({ operation, replayNumber, originalEventId }) => [operation, replayNumber, originalEventId]),
    ).toEqual(wanted);
    const audited = await eventsOf(server, submissionId, "stream=idempotency&types=idempotency.replay");
    expect(audited.map(({ payload }) => payload.replayCount)).toEqual([1, 1, 1, 2, 2, 2]);
    expect((await read(server, submissionId, server.adminKey)).body.replayCount).toBe(2);
  });

  it("a failed submit is the original of its own replays", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    await submit(server, resumeToken, "failed-then-replayed");
    await submit(server, resumeToken, "failed-then-replayed");
    const [failed] = await eventsOf(server, submissionId, "types=validation.failed");
    const [replay] = await eventsOf(server, submissionId, "types=submission.replayed");
    expect(replay.payload).toMatchObject({ operation: "submit", replayNumber: 1, originalEventId: failed.eventId });
  });
});

describe("[AUDIT-F20] the conflict of a create", () => {
  it("is an event of the submission that holds the key: another payload", async () => {
    const body = { idempotencyKey: "create-conflict" };
    const { submissionId } = await created(server, "forms", { key: agentKey, body });
    await create(server, "forms", { key: agentKey, body: { ...body, initialFields: { name: "Ada" } } });
    const [conflict, ...others] = await conflictsOf(submissionId);
    expect(others).toEqual([]);
    expect(conflict).toMatchObject({
      actor: AGENT,
      payload: { operation: "create", conflict_type: "payload_mismatch", originalActor: AGENT },
    });
  });

  it("is a collision when the key is somebody else's", async () => {
    const body = { idempotencyKey: "create-collision" };
    const { submissionId } = await created(server, "forms", { key: agentKey, body });
    const stranger = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "stranger" } });
    await create(server, "forms", { key: stranger, body });
    const conflicts = await conflictsOf(submissionId);
    expect(conflicts.map(({ actor, payload }) => [actor.id, payload.conflict_type])).toEqual([
      ["stranger", "key_collision"],
    ]);
  });

  it("of a write is recorded where the key is held, not in another submission's history", async () => {
    const move = { key: agentKey, body: { idempotencyKey: "write-conflict" } };
    const holder = await created(server, "forms", { key: agentKey });
    const other = await created(server, "forms", { key: agentKey });
    await setFields(server, holder.resumeToken, { name: "Ada" }, move);
    expect((await setFields(server, other.resumeToken, { name: "Ada" }, move)).status).toBe(409);
    expect(await conflictsOf(holder.submissionId)).toHaveLength(1);
    expect(await conflictsOf(other.submissionId)).toEqual([]);
  });
});

describe("[AUDIT-F20] an intake with keys disabled", () => {
  it.each([
    ["malformed", "has a space"],
    ["empty", ""],
    ["too long", "k".repeat(256)],
  ])("does not check a %s key, except on submit", async (_what, bad) => {
    const move = { body: { idempotencyKey: bad } };
    const { resumeToken, _idempotent } = await created(server, "unguarded", {
      body: { ...move.body, initialFields: { name: "Ada" } },
    });
    expect(_idempotent).toBeUndefined();
    const set = await setFields(server, resumeToken, { note: "x" }, move);
    expect([set.status, set.body._idempotent]).toEqual([200, undefined]);
    expect((await submit(server, set.body.resumeToken, bad)).status).toBe(400);
    const keyless = await server.call("POST", `/resume/${set.body.resumeToken}/submit`, { body: { actor: AGENT } });
    expect([keyless.status, keyless.body.error.type]).toEqual([400, "invalid"]);
  });
});

it("[AUDIT-F20] a replayed create does not count against the limit of creates, a conflict does", async () => {
  const limited = await startTestServer({
    env: { FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "3" },
  });
  try {
    await limited.putIntake({ id: "forms" });
    const body = { idempotencyKey: idempotencyKey("limited") };
    const first = await create(limited, "forms", { body });
    expect([first.status, first.headers.ratelimit]).toEqual([201, expect.stringContaining("r=2")]);
    for (let round = 0; round < 5; round++) {
      const replay = await create(limited, "forms", { body });
      expect([replay.status, replay.headers.ratelimit]).toEqual([200, expect.stringContaining("r=2")]);
    }
    expect((await create(limited, "forms", { body: { ...body, ttlMs: 3_600_000 } })).status).toBe(409);
    expect((await create(limited, "forms")).status).toBe(201);
    expect((await create(limited, "forms")).status).toBe(429);
    // A caller who has used up the limit still gets its recorded response.
    expect((await create(limited, "forms", { body })).status).toBe(200);
  } finally {
    await limited.stop();
  }
});
