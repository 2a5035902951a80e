/**
 * Every event of a scenario, compared with what the callers did: the tokens they presented and were given, the fields they sent, who
 * they were. An event that names the wrong thing fails here.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstProblem } from "../../examples/verify-history.ts";
import { handOff, visit } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { connectHost } from "../support/mcp.ts";
import {
  AGENT,
  create,
  created,
  createLatch,
  eventsOf,
  HUMAN,
  idempotencyKey,
  setFields,
  submit,
  typesOf,
  until,
} from "../support/moves.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UA = { "user-agent": "Robot/1.0" };
const CLIENT = { ipAddress: "127.0.0.1", userAgent: "Robot/1.0", responseTimeMs: expect.any(Number) };
const NAMELESS = { ipAddress: "127.0.0.1", responseTimeMs: expect.any(Number) };
const DECLARED = { ...AGENT, declared: true };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const iso = (at: number): string => new Date(at).toISOString();

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({ id: "brief", tokens: { ttlMs: HOUR } });
  await server.putIntake({
    id: "gated",
    approvalGates: [{ name: "check", reviewers: { ids: ["rita"] } }],
    tokens: { ttlMs: HOUR },
  });
  await server.putIntake({
    id: "sent",
    destination: { kind: "webhook", url: "https://receiver.invalid/hook" },
    tokens: { ttlMs: HOUR },
  });
  key = await server.makeKey({ roles: ["agent"], actor: AGENT });
});
afterAll(() => server.stop());

const flush = (): Promise<void> => server.server.core.operations.flushAudit();

/** The events of a stream, each as type, actor and payload. */
async function history(id: string, query: string): Promise<[string, Loose, Loose][]> {
  await flush();
  return (await eventsOf(server, id, query)).map(({ type, actor, payload }) => [type, actor, payload]);
}

const readWith = (token: string, headers = {}): Promise<Reply> => server.call("GET", `/resume/${token}`, { headers });

describe("a whole lifecycle", () => {
  it("[AUDIT-F10] [EVENTS-TOKEN-STREAM] [EVENTS-PAYLOADS] every token event names the tokens, the caller and the change that it is about", async () => {
    const at = server.clock.now();
    const made = await created(server, "forms", { headers: UA });
    const id = made.submissionId;
    const first = sha256(made.resumeToken);
    const set = await setFields(server, made.resumeToken, { name: "Ada", note: "x" }, { headers: UA });
    const second = sha256(set.body.resumeToken);
    const conflict = await setFields(server, made.resumeToken, { name: "Eve" }, { headers: UA });
    expect(conflict.status).toBe(409);
    await server.call("POST", `/resume/${set.body.resumeToken}/validate`, { body: {}, headers: UA });
    const removed = await setFields(
      server,
      set.body.resumeToken,
      { note: null },
      { body: { actor: HUMAN }, headers: UA },
    );
    const third = sha256(removed.body.resumeToken);
    const sent = await submit(server, removed.body.resumeToken, `whole-${id}`, { headers: UA });
    const fourth = sha256(sent.body.resumeToken);
    const expiresAt = iso(at + 7 * DAY);
    const ok = (operation: string, presented?: string) => ({
      operation,
      outcome: "success",
      ...CLIENT,
      ...(presented !== undefined && { tokenHash: presented }),
    });
    const human = { ...HUMAN, declared: true };
    expect(await history(id, "stream=token")).toEqual([
      ["token.created", DECLARED, { ...ok("createSubmission", first), intakeId: "forms", ttlMs: 7 * DAY, expiresAt }],
      [
        "token.updated",
        DECLARED,
        {
          ...ok("setFields", first),
          previousTokenHash: first,
          newTokenHash: second,
          newVersion: 2,
          expiresAt,
          fieldsChanged: ["name", "note"],
          stateTransition: "draft -> in_progress",
        },
      ],
      [
        "token.accessed",
        DECLARED,
        { operation: "setFields", outcome: "failure", reason: "rotated", ...CLIENT, tokenHash: first },
      ],
      [
        "token.conflict",
        DECLARED,
        {
          operation: "setFields",
          outcome: "failure",
          reason: "version_mismatch",
          ...CLIENT,
          tokenHash: first,
          currentTokenHash: second,
          attemptedVersion: 1,
          currentVersion: 2,
          rejectedFields: ["name"],
        },
      ],
      ["token.accessed", { kind: "unknown", id: "token_bearer" }, ok("validate", second)],
      [
        "token.updated",
        human,
        {
          ...ok("setFields", second),
          previousTokenHash: second,
          newTokenHash: third,
          newVersion: 3,
          expiresAt,
          fieldsChanged: ["note"],
          stateTransition: "in_progress -> in_progress",
        },
      ],
      [
        "token.handed_off",
        human,
        { ...ok("setFields", second), handoffDetected: true, previousActor: AGENT, currentActor: HUMAN },
      ],
      [
        "token.submitted",
        DECLARED,
        {
          ...ok("submit", third),
          previousTokenHash: third,
          newTokenHash: fourth,
          newVersion: 4,
          expiresAt,
          fieldsChanged: [],
          stateTransition: "in_progress -> finalized",
          finalState: "finalized",
        },
      ],
      [
        "token.expired",
        DECLARED,
        { ...ok("submit", third), reason: "terminal_state", finalState: "finalized", expiredAt: iso(at) },
      ],
      [
        "token.handed_off",
        DECLARED,
        { ...ok("submit", third), handoffDetected: true, previousActor: HUMAN, currentActor: AGENT },
      ],
    ]);
    const fields = (await history(id, "types=field.updated")).map(([, actor, payload]) => [actor, payload]);
    expect(fields).toEqual([
      [DECLARED, { fields: { name: "Ada", note: "x" }, removed: [] }],
      [human, { fields: {}, removed: ["note"] }],
    ]);
  });

  it("[AUDIT-F10] a cancel has its reason, and which token ended", async () => {
    const { submissionId, resumeToken } = await created(server, "forms");
    const reply = await server.call("DELETE", `/resume/${resumeToken}`, {
      body: { reason: "wrong form", actor: AGENT },
    });
    expect(reply.status).toBe(200);
    const [, cancelled, expired] = await history(submissionId, "stream=token");
    const tokenHash = sha256(resumeToken);
    expect(cancelled).toEqual([
      "token.cancelled",
      DECLARED,
      expect.objectContaining({
        tokenHash,
        reason: "wrong form",
        stateTransition: "draft -> cancelled",
        outcome: "success",
      }),
    ]);
    expect(expired?.[2]).toMatchObject({ tokenHash, reason: "terminal_state", finalState: "cancelled" });
  });
});

describe("uses that fail", () => {
  const failures = async (id: string): Promise<Loose[]> =>
    (await history(id, "types=token.accessed")).flatMap(([, , payload]) =>
      payload.outcome === "failure" ? [payload] : [],
    );

  it("[AUDIT-F10] a lapsed token leaves its expiry once, and each failed use", async () => {
    const made = await created(server, "brief");
    const tokenHash = sha256(made.resumeToken);
    const lapsedAt = server.clock.now() + HOUR;
    server.clock.advance(HOUR + 31_000);
    expect((await readWith(made.resumeToken, UA)).status).toBe(410);
    expect((await readWith(made.resumeToken, { "user-agent": "Other/2" })).status).toBe(410);
    expect((await setFields(server, made.resumeToken, { name: "Ada" })).status).toBe(410);
    const expired = await history(made.submissionId, "types=token.expired");
    expect(expired).toEqual([
      [
        "token.expired",
        { kind: "system", id: "ttl_enforcer" },
        {
          operation: "lapse",
          outcome: "success",
          tokenHash,
          reason: "ttl",
          finalState: "draft",
          expiredAt: iso(lapsedAt),
        },
      ],
    ]);
    const failed = { outcome: "failure", reason: "ttl_elapsed", tokenHash };
    expect(await failures(made.submissionId)).toEqual([
      { ...failed, ...CLIENT, operation: "getSubmission" },
      { ...failed, ...CLIENT, userAgent: "Other/2", operation: "getSubmission" },
      { ...failed, ...NAMELESS, operation: "setFields" },
    ]);
  });

  it("[AUDIT-F10] a token that nobody uses any more still lapses, once", async () => {
    const { submissionId, resumeToken } = await created(server, "brief");
    const job = {
      tenant: "default",
      submissionId,
      key: `lapse:${submissionId}`,
      kind: "lapse" as const,
      lane: "",
      attempt: 1,
    };
    const run = () => server.server.core.operations.lapseToken({ ...job, runAt: 0, leasedUntil: 0 });
    await run();
    expect(await history(submissionId, "types=token.expired")).toEqual([]);
    server.clock.advance(HOUR + 31_000);
    await run();
    await run();
    const expired = await history(submissionId, "types=token.expired");
    expect(expired.map(([, , payload]) => payload.tokenHash)).toEqual([sha256(resumeToken)]);
  });

  it.each([
    ["gated", "needs_review"],
    ["sent", "submitted"],
  ])("[AUDIT-F10] a token of intake %s that lapses in %s is recorded by its job", async (intake, state) => {
    const made = await created(server, intake, { body: { initialFields: { name: "Ada" } } });
    const { body } = await submit(server, made.resumeToken, idempotencyKey(state));
    expect(body.state).toBe(state);
    server.clock.advance(HOUR + 31_000);
    const claimed = await server.server.core.backend.jobs.claim({
      limit: 1_000,
      leaseMs: 1_000,
      perLane: 1_000,
      busy: new Map(),
    });
    const lapses = claimed.filter(({ kind, submissionId }) => kind === "lapse" && submissionId === made.submissionId);
    expect(lapses).toHaveLength(1);
    for (const job of lapses) await server.server.core.operations.lapseToken(job);
    const expired = await history(made.submissionId, "types=token.expired");
    expect(expired.map(([, , payload]) => [payload.tokenHash, payload.finalState])).toEqual([
      [sha256(body.resumeToken), state],
    ]);
  });

  it("[AUDIT-F10] a revoked token names itself, and its later uses are recorded", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { key });
    const tokenHash = sha256(resumeToken);
    const revoke = () =>
      server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    expect((await revoke()).status).toBe(200);
    expect((await readWith(resumeToken)).status).toBe(410);
    expect((await setFields(server, resumeToken, { name: "Ada" })).status).toBe(410);
    const events = await history(submissionId, "types=token.expired,token.handed_off");
    expect(events.map(([type, actor, payload]) => [type, actor.id, payload.tokenHash, payload.reason])).toEqual([
      ["token.expired", "admin", tokenHash, "admin_revoked"],
    ]);
    expect(await failures(submissionId)).toEqual([
      { operation: "getSubmission", outcome: "failure", reason: "admin_revoked", tokenHash, ...NAMELESS },
      { operation: "setFields", outcome: "failure", reason: "admin_revoked", tokenHash, ...NAMELESS },
    ]);
  });

  it("[AUDIT-F10] a reissue ends the old token by its name, and creates the new one", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { key });
    const again = await server.call("POST", `/submissions/${submissionId}/tokens/reissue`, { key, body: {} });
    const [, expired, fresh] = await history(submissionId, "stream=token");
    expect(expired?.[2]).toMatchObject({
      tokenHash: sha256(resumeToken),
      reason: "admin_revoked",
      operation: "reissueToken",
    });
    expect(fresh?.[2]).toMatchObject({ tokenHash: sha256(again.body.resumeToken), intakeId: "forms" });
  });

  it("[AUDIT-F10] when a submission expires, the event names the token that somebody held", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { body: { ttlMs: 60_000 } });
    const expiredAt = iso(server.clock.now() + 60_000);
    server.clock.advance(91_000);
    expect((await readWith(resumeToken)).status).toBe(410);
    const events = await history(submissionId, "types=token.expired,token.handed_off,token.accessed");
    expect(events).toEqual([
      [
        "token.expired",
        { kind: "system", id: "ttl_enforcer" },
        {
          operation: "expire",
          outcome: "success",
          tokenHash: sha256(resumeToken),
          reason: "ttl",
          finalState: "expired",
          expiredAt,
        },
      ],
      [
        "token.accessed",
        { kind: "unknown", id: "token_bearer" },
        {
          operation: "getSubmission",
          outcome: "failure",
          reason: "expired",
          tokenHash: sha256(resumeToken),
          ...NAMELESS,
        },
      ],
    ]);
  });

  it("[AUDIT-F10] a malformed token is recorded for a key that sees the submission, and for nobody else", async () => {
    const { submissionId } = await created(server, "forms", { key });
    const bad = "rtok_short";
    const send = (options: { key?: string }) =>
      server.call("PATCH", `/submissions/${submissionId}/fields`, {
        ...options,
        body: { resumeToken: bad, actor: AGENT, fields: {} },
      });
    expect((await send({ key })).status).toBe(400);
    expect((await send({})).status).toBe(400);
    expect(await history(submissionId, "types=token.accessed")).toEqual([
      [
        "token.accessed",
        AGENT,
        { operation: "setFields", outcome: "failure", reason: "malformed", tokenHash: sha256(bad), ...NAMELESS },
      ],
    ]);
  });

  it("[AUDIT-F29] [AUDIT-F10] a conflict is in the history before its response is sent, also for a read", async () => {
    const { submissionId, resumeToken } = await created(server, "forms");
    const set = await setFields(server, resumeToken, { name: "Ada" });
    server.clock.advance(31_000);
    expect((await setFields(server, resumeToken, { name: "Eve" })).status).toBe(409);
    const conflicts = () => eventsOf(server, submissionId, "types=token.conflict");
    expect(await conflicts()).toHaveLength(1);
    expect((await readWith(resumeToken)).status).toBe(409);
    expect((await conflicts()).map(({ payload }) => payload)).toMatchObject([
      { operation: "setFields", rejectedFields: ["name"] },
      {
        operation: "getSubmission",
        tokenHash: sha256(resumeToken),
        currentTokenHash: sha256(set.body.resumeToken),
        attemptedVersion: 1,
        currentVersion: 2,
        rejectedFields: [],
      },
    ]);
  });
});

describe("who reads", () => {
  it("[AUDIT-F10] [EVENTS-READ-AUDIT] a bare token is unknown, a key is its actor, a session is its human", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { key });
    await readWith(resumeToken);
    await readWith(resumeToken);
    await server.call("GET", `/resume/${resumeToken}`, { key });
    const handoff = await handOff(server, resumeToken, { allowedActors: [HUMAN] });
    const visitor = await visit(server, handoff, HUMAN);
    await visitor.call("GET", "");
    const tokenHash = sha256(resumeToken);
    const { handoffId } = handoff;
    const read = { operation: "getSubmission", outcome: "success", ...NAMELESS };
    const events = await history(submissionId, "types=token.accessed");
    const reads = events.filter(([, , payload]) => payload.operation === "getSubmission");
    expect(reads).toEqual([
      ["token.accessed", { kind: "unknown", id: "token_bearer" }, { ...read, tokenHash, count: 2 }],
      ["token.accessed", AGENT, { ...read, tokenHash }],
      ["token.accessed", expect.objectContaining(HUMAN), { ...read, handoffId }],
    ]);
  });

  it("[AUDIT-F10] [EVENTS-HANDED-OFF] a read by the other kind of person is a hand-off, once; a bare token's is none", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { key });
    const handed = async () =>
      (await eventsOf(server, submissionId, "types=token.handed_off")).map(({ payload }) => payload);
    await readWith(resumeToken);
    const human = await server.makeKey({ roles: ["agent"], actor: HUMAN });
    const readAs = (bearer: string) => server.call("GET", `/resume/${resumeToken}`, { key: bearer });
    expect(await handed()).toEqual([]);
    await readAs(human);
    await readAs(human);
    const expected = [
      { operation: "getSubmission", previousActor: AGENT, currentActor: HUMAN, tokenHash: sha256(resumeToken) },
    ];
    expect(await handed()).toMatchObject(expected);
    await setFields(server, resumeToken, { name: "Ada" }, { key: human });
    expect(await handed()).toHaveLength(1);
  });

  it("[AUDIT-F10] acts of the system and of operators are no hand-off", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { key, body: { ttlMs: HOUR } });
    await server.call("POST", `/submissions/${submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
    await server.call("POST", `/submissions/${submissionId}/tokens/reissue`, { key, body: {} });
    server.clock.advance(2 * HOUR);
    await readWith(resumeToken);
    expect(typesOf(await eventsOf(server, submissionId, "types=token.handed_off,submission.expired"))).toEqual([
      "submission.expired",
    ]);
  });

  it("[AUDIT-F10] addresses and user agents go when the submission is erased", async () => {
    const { submissionId, resumeToken } = await created(server, "forms", { headers: { "user-agent": "Tell-tale/9" } });
    await server.call("DELETE", `/resume/${resumeToken}`, { body: { actor: AGENT } });
    await flush();
    const all = () => eventsOf(server, submissionId, "stream=all&proof=true");
    expect(JSON.stringify(await all())).toContain("Tell-tale/9");
    const erased = await server.call("POST", `/submissions/${submissionId}/erase`, { key: server.adminKey, body: {} });
    expect(erased.status).toBe(200);
    expect(JSON.stringify(await all())).not.toMatch(/Tell-tale|127\.0\.0\.1/);
  });
});

describe("keys", () => {
  it("[EVENTS-IDEMPOTENCY-STREAM] requests that waited for their key record how long, behind how many, and for whom", async () => {
    const made = await created(server, "forms");
    const { store } = server.server.core.backend;
    const { commit } = store;
    const latch = createLatch();
    store.commit = async (change) => {
      await latch.opened;
      return await commit.call(store, change);
    };
    const move = { body: { idempotencyKey: `crowd-${made.submissionId}` } };
    const set = () => setFields(server, made.resumeToken, { name: "Ada" }, move);
    const { idempotency } = server.server.core.backend;
    const { enter } = idempotency;
    let arrived = 0;
    idempotency.enter = (...args) => {
      arrived += 1;
      return enter.apply(idempotency, args);
    };
    const replies = [set(), set(), set()];
    await until(() => arrived === 3);
    latch.open();
    store.commit = commit;
    idempotency.enter = enter;
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const [contention, ...others] = await history(made.submissionId, "types=idempotency.lock.contention");
    expect(others).toEqual([]);
    expect(contention).toEqual([
      "idempotency.lock.contention",
      DECLARED,
      {
        operation: "setFields",
        intakeId: "forms",
        keyHash: sha256(`crowd-${made.submissionId}`),
        waitTime_ms: expect.any(Number),
        queueDepth: 1,
        lockHolder: expect.stringMatching(/^srv_[0-9a-f]{12}$/),
        count: 2,
      },
    ]);
  });

  it("[EVENTS-IDEMPOTENCY-STREAM] a removed key records how long it lived and how often it was replayed", async () => {
    const at = server.clock.now();
    const made = await created(server, "forms");
    const move = { body: { idempotencyKey: `forgotten-${at}` } };
    const set = () => setFields(server, made.resumeToken, { name: "Ada" }, move);
    await set();
    await set();
    await set();
    server.clock.advance(DAY + 5_000);
    const { operations } = server.server.core;
    while ((await operations.sweep()).records > 0);
    expect(await history(made.submissionId, "types=idempotency.key.expired")).toEqual([
      [
        "idempotency.key.expired",
        { kind: "system", id: "ttl_enforcer" },
        {
          operation: "setFields",
          intakeId: "forms",
          keyHash: sha256(`forgotten-${at}`),
          ttl_ms: DAY,
          lifetime_ms: DAY + 5_000,
          replayCount: 2,
          reason: "ttl_elapsed",
        },
      ],
    ]);
  });

  it("[EVENTS-IDEMPOTENCY-STREAM] each event names key, intake, times and requests as they were", async () => {
    const at = server.clock.now();
    const body = { idempotencyKey: idempotencyKey(`contents-${at}`) };
    const { submissionId } = await created(server, "forms", { key, body });
    server.clock.advance(5_000);
    expect((await create(server, "forms", { key, body })).status).toBe(200);
    const part = { operation: "create", intakeId: "forms", keyHash: sha256(body.idempotencyKey) };
    expect(await history(submissionId, "stream=idempotency")).toEqual([
      ["idempotency.key.created", AGENT, { ...part, ttl_ms: DAY, expiresAt: iso(at + DAY) }],
      [
        "idempotency.replay",
        AGENT,
        { ...part, replayCount: 1, originalTimestamp: iso(at), timeSinceOriginal_ms: 5_000 },
      ],
    ]);
  });
});

describe("where calls came from", () => {
  it("[EVENTS-CALLERS] only admins can read it, on any path", async () => {
    const made = await created(server, "forms", { key, headers: UA });
    const { submissionId, resumeToken } = made;
    await readWith(resumeToken, UA);
    await flush();
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
    const path = `/submissions/${submissionId}/events?stream=all`;
    const feed = `/events?stream=all&submissionId=${submissionId}`;
    const lines = { accept: "application/x-ndjson" };
    const masked = [
      await server.call("GET", path, { key }),
      await server.call("GET", path, { key: viewer }),
      await server.call("GET", feed, { key: viewer }),
      await server.call("GET", `/resume/${resumeToken}/events?stream=all`),
      await server.call("GET", path, { key, headers: lines }),
    ];
    for (const { status, body } of masked) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).toContain("token.created");
      expect(JSON.stringify(body)).not.toMatch(/ipAddress|userAgent|Robot/);
    }
    const clear = [
      await server.call("GET", path, { key: server.adminKey }),
      await server.call("GET", feed, { key: server.adminKey }),
      await server.call("GET", path, { key: server.adminKey, headers: lines }),
    ];
    for (const { body } of clear) expect(JSON.stringify(body)).toMatch(/ipAddress.*Robot/);
    const host = await connectHost(server.url, { key: server.adminKey });
    const told = await host.done("formbridge_get_events", { submissionId, stream: "all", verbose: true });
    await host.close();
    expect(JSON.stringify(told)).toContain("token.created");
    expect(JSON.stringify(told)).not.toMatch(/ipAddress|userAgent/);
  });

  it("[EVENTS-CALLERS] a history with proofs verifies for readers who do not see it", async () => {
    const made = await created(server, "forms", { key, headers: UA });
    await setFields(server, made.resumeToken, { name: "Ada" });
    const path = `/submissions/${made.submissionId}/events?stream=all&proof=true`;
    const { events } = (await server.call("GET", path, { key })).body;
    expect(firstProblem(events)).toBeUndefined();
    const [token] = events.filter(({ type }: Loose) => type === "token.created");
    expect([token.payload, token.proof.payloadSalt]).toEqual([null, null]);
    const all = (await server.call("GET", path, { key: server.adminKey })).body.events;
    expect(firstProblem(all)).toBeUndefined();
    expect(all.every(({ payload }: Loose) => payload !== null)).toBe(true);
  });
});
