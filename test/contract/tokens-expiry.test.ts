import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  DAY,
  eventTypes,
  expectError,
  expectGone,
  filled,
  HOUR,
  history,
  MINUTE,
  record,
  SECOND,
  setFields,
  submit,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "two-days", ttlMs: 2 * DAY });
  await server.putIntake({ id: "long", ttlMs: 60 * DAY });
  await server.putIntake({ id: "tokens-hour", tokens: { ttlMs: HOUR } });
  await server.putIntake({ id: "tokens-minute", tokens: { ttlMs: MINUTE } });
  await server.putIntake({ id: "tokens-year", ttlMs: 365 * DAY, tokens: { ttlMs: 365 * DAY } });
  await server.putIntake({
    id: "gated",
    tokens: { ttlMs: 2 * HOUR },
    approvalGates: [{ name: "check", reviewers: {} }],
  });
});
afterAll(() => server.stop());

const fromNow = (ms: number): string => new Date(server.clock.now() + ms).toISOString();
const sweep = () => server.server.core.operations.sweep();
const get = (token: string): Promise<Reply> => server.call("GET", `/resume/${token}`);

describe("a token's time", () => {
  it("[TOKENS-TTL-DEFAULT] 7 days, from the write that issued it", async () => {
    const made = await create(server, "long");
    expect(made.tokenExpiresAt).toBe(fromNow(7 * DAY));
    server.clock.advance(DAY);
    expect((await filled(server, made.resumeToken, { name: "x" })).tokenExpiresAt).toBe(fromNow(7 * DAY));
  });

  it("[TOKENS-TTL-BOUNDS] an intake's setting is kept between an hour and 30 days", async () => {
    expect((await create(server, "tokens-hour")).tokenExpiresAt).toBe(fromNow(HOUR));
    expect((await create(server, "tokens-minute")).tokenExpiresAt).toBe(fromNow(HOUR));
    expect((await create(server, "tokens-year")).tokenExpiresAt).toBe(fromNow(30 * DAY));
  });

  it("[TOKENS-TTL-BOUNDS] what the operator sets is not bounded by what an intake may ask for", async () => {
    const brief = await startTestServer({ store: "memory", env: { FORMBRIDGE_TOKEN_TTL_MS: "2000" } });
    try {
      await brief.putIntake({ id: "open" });
      await brief.putIntake({ id: "asks", tokens: { ttlMs: 2000 } });
      const at = (ms: number) => new Date(brief.clock.now() + ms).toISOString();
      expect((await create(brief, "open")).tokenExpiresAt).toBe(at(2000));
      expect((await create(brief, "asks")).tokenExpiresAt).toBe(at(HOUR));
    } finally {
      await brief.stop();
    }
  });

  it("[TOKENS-TTL-WITHIN] never beyond the submission, however short that is", async () => {
    expect((await create(server, "two-days")).tokenExpiresAt).toBe(fromNow(2 * DAY));
    const short = await create(server, "open", { ttlMs: 5 * MINUTE });
    expect(short.tokenExpiresAt).toBe(fromNow(5 * MINUTE));
    server.clock.advance(4 * MINUTE);
    expect((await filled(server, short.resumeToken, { name: "x" })).tokenExpiresAt).toBe(fromNow(MINUTE));
  });

  it("[TOKENS-WARNING] its last hour is announced, with the time left", async () => {
    const { resumeToken } = await create(server, "open", { ttlMs: 3 * HOUR });
    server.clock.advance(2 * HOUR - 1);
    expect((await get(resumeToken)).body.warning).toBeUndefined();
    server.clock.advance(30 * MINUTE + 1);
    expect((await get(resumeToken)).body.warning).toEqual({
      message: expect.stringContaining("30"),
      timeRemaining: 30 * MINUTE,
    });
    const checked = await server.call("POST", `/resume/${resumeToken}/validate`);
    expect(checked.body.warning.timeRemaining).toBe(30 * MINUTE);
    server.clock.advance(10 * MINUTE);
    expect((await filled(server, resumeToken, { name: "x" })).warning.timeRemaining).toBe(20 * MINUTE);
  });

  it.each([
    [90_000, "1 minute."],
    [59_999, "less than a minute."],
  ])("[TOKENS-WARNING] %i ms are %s", async (left, words) => {
    const { resumeToken } = await create(server, "open", { ttlMs: 5 * MINUTE });
    server.clock.advance(5 * MINUTE - left);
    expect((await get(resumeToken)).body.warning.message).toBe(`The resume token expires in ${words}`);
  });

  it("[TOKENS-WARNING] also while reviewers decide", async () => {
    const { resumeToken } = await submitted(server, "gated");
    server.clock.advance(90 * MINUTE);
    expect((await get(resumeToken)).body.warning?.timeRemaining).toBe(30 * MINUTE);
  });

  it("[TOKENS-EXPIRED] when expired it is a 410 that says since when and how to recover", async () => {
    const { submissionId, resumeToken, tokenExpiresAt } = await create(server, "tokens-hour", {
      fields: { name: "x" },
    });
    server.clock.advance(2 * HOUR);
    const acts: (() => Promise<Reply>)[] = [
      () => get(resumeToken),
      () => server.call("GET", `/resume/${resumeToken}/events`),
      () => setFields(server, resumeToken, { name: "y" }),
      () => server.call("POST", `/resume/${resumeToken}/validate`),
      () => submit(server, resumeToken),
      () => server.call("DELETE", `/resume/${resumeToken}`),
    ];
    for (const act of acts) {
      const reply = await unchangedBy(server, submissionId, act);
      expect(reply.body.submissionId).toBe(submissionId);
      expect(expectGone(reply, "token_expired")).toMatchObject({
        reason: "ttl_elapsed",
        expiredAt: tokenExpiresAt,
        expiredFor: HOUR,
        canRecover: true,
        recoveryMethod: expect.any(String),
      });
    }
    expect((await record(server, submissionId)).state).toBe("in_progress");
  });

  it("[TOKENS-EXPIRED] it stays a 410 after sweeps, while the submission lives", async () => {
    const { resumeToken } = await create(server, "tokens-hour");
    server.clock.advance(HOUR + MINUTE);
    await sweep();
    await sweep();
    expect(expectGone(await get(resumeToken), "token_expired").reason).toBe("ttl_elapsed");
  });

  it("[TOKENS-SKEW] a token works for 30 s longer than it says", async () => {
    const { resumeToken } = await create(server, "tokens-hour");
    server.clock.advance(HOUR + 30 * SECOND - 1);
    expect((await get(resumeToken)).status).toBe(200);
    server.clock.advance(1);
    expectGone(await get(resumeToken), "token_expired");
  });
});

describe("a submission's time", () => {
  it("[TOKENS-SUBMISSION-TTL] its own comes before the intake's, and that before 7 days", async () => {
    expect((await create(server, "open")).expiresAt).toBe(fromNow(7 * DAY));
    expect((await create(server, "two-days")).expiresAt).toBe(fromNow(2 * DAY));
    expect((await create(server, "two-days", { ttlMs: 3 * HOUR })).expiresAt).toBe(fromNow(3 * HOUR));
  });

  it.each([MINUTE - 1, 365 * DAY + 1, 0, -1])("[TOKENS-SUBMISSION-TTL] ttlMs %d is out of bounds", async (ttlMs) => {
    const reply = await server.call("POST", "/intakes/open/submissions", { body: { actor: AGENT, ttlMs } });
    expectError(reply, 400, "bad_request");
  });

  it.each([MINUTE, 365 * DAY])("[TOKENS-SUBMISSION-TTL] ttlMs %d is just within bounds", async (ttlMs) => {
    expect((await create(server, "open", { ttlMs })).expiresAt).toBe(fromNow(ttlMs));
  });

  it("[TOKENS-TTL-FIXED] [TOKENS-TTL-SHOWN] a read shows what is left, and writes do not extend it", async () => {
    const made = await create(server, "open", { ttlMs: HOUR });
    expect((await get(made.resumeToken)).body.ttl).toEqual({ expiresAt: made.expiresAt, remainingMs: HOUR });
    server.clock.advance(10 * MINUTE);
    const { resumeToken } = await filled(server, made.resumeToken, { name: "x" });
    const ttl = { expiresAt: made.expiresAt, remainingMs: 50 * MINUTE };
    expect((await get(resumeToken)).body.ttl).toEqual(ttl);
    expect((await record(server, made.submissionId)).ttl).toEqual(ttl);
  });

  it("[TOKENS-TTL-WARNED] at 80 % of its time there is one warning in its history", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { ttlMs: 10 * HOUR });
    server.clock.advance(8 * HOUR - 1);
    await sweep();
    expect(await eventTypes(server, submissionId)).toEqual(["submission.created"]);
    server.clock.advance(SECOND);
    await sweep();
    await sweep();
    expect(await eventTypes(server, submissionId)).toEqual(["submission.created", "submission.ttl_warning"]);
    expect((await history(server, submissionId))[1]).toMatchObject({ version: 1, actor: { kind: "system" } });
    expect((await record(server, submissionId)).resumeToken).toBe(resumeToken);
  });

  it("[TOKENS-SKEW] [TOKENS-EXPIRY-LAZY] after 30 s of tolerance any access finds it expired", async () => {
    const made = await create(server, "open", { ttlMs: 10 * MINUTE });
    server.clock.advance(10 * MINUTE + 30 * SECOND - 1);
    const { resumeToken } = await filled(server, made.resumeToken, { name: "just in time" });
    server.clock.advance(1);
    expectGone(await setFields(server, resumeToken, { name: "too late" }), "expired");
    expect(await record(server, made.submissionId)).toMatchObject({
      state: "expired",
      version: 3,
      fields: { name: "just in time" },
      expiredAt: made.expiresAt,
    });
    expect(await eventTypes(server, made.submissionId)).toEqual([
      "submission.created",
      "field.updated",
      "submission.expired",
    ]);
  });

  it("[TOKENS-EXPIRY-LAZY] a read by id is enough", async () => {
    const { submissionId } = await create(server, "open", { ttlMs: MINUTE });
    server.clock.advance(MINUTE + 30 * SECOND);
    expect((await record(server, submissionId)).state).toBe("expired");
    expect(await eventTypes(server, submissionId)).toEqual(["submission.created", "submission.expired"]);
  });

  it("[TOKENS-EXPIRY-SWEPT] a submission that nobody accesses is still expired, once", async () => {
    const { submissionId } = await create(server, "open", { ttlMs: MINUTE });
    server.clock.advance(MINUTE + 31 * SECOND);
    await sweep();
    await sweep();
    // A list doesn't read submissions one by one: it shows what the sweep stored.
    const listed = await server.call("GET", "/submissions?state=expired&limit=1000", { key: server.adminKey });
    expect(listed.body.items.map((item: { submissionId: string }) => item.submissionId)).toContain(submissionId);
    expect((await eventTypes(server, submissionId)).filter((type) => type === "submission.expired")).toHaveLength(1);
  });

  it("[TOKENS-EXPIRED-SUBMISSION] its token is a 410 expired on reads and writes, and by id it reads", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { ttlMs: HOUR, fields: { name: "Ada" } });
    server.clock.advance(2 * HOUR);
    const acts: (() => Promise<Reply>)[] = [
      () => get(resumeToken),
      () => server.call("GET", `/resume/${resumeToken}/events`),
      () => setFields(server, resumeToken, { name: "x" }),
      () => server.call("POST", `/resume/${resumeToken}/validate`),
      () => submit(server, resumeToken),
      () => server.call("DELETE", `/resume/${resumeToken}`),
    ];
    for (const act of acts) {
      const reply = await unchangedBy(server, submissionId, act);
      expect(expectGone(reply, "expired").nextActions[0].action).toBe("create_new_submission");
    }
    expect(await record(server, submissionId)).toMatchObject({ state: "expired", fields: { name: "Ada" } });
  });

  it("[TOKENS-EXPIRED-SUBMISSION] also after the sweeper went over it more than once", async () => {
    const { resumeToken } = await create(server, "open", { ttlMs: HOUR });
    for (let round = 0; round < 3; round++) {
      server.clock.advance(HOUR);
      await sweep();
    }
    expectGone(await get(resumeToken), "expired");
    expectGone(await setFields(server, resumeToken, { name: "x" }), "expired");
  });
});

describe("the last token of an ended submission", () => {
  it("[TOKENS-LAST-READS] reads state and events until it expires, and can't write", async () => {
    const { submissionId, resumeToken } = await submitted(server, "tokens-hour");
    server.clock.advance(30 * MINUTE);
    expect((await get(resumeToken)).body).toMatchObject({ state: "finalized", fields: { name: "Ada" } });
    expect((await server.call("GET", `/resume/${resumeToken}/events`)).body.events.at(-1).type).toBe(
      "submission.finalized",
    );
    const refused = await unchangedBy(server, submissionId, () => setFields(server, resumeToken, { name: "x" }));
    expect(expectGone(refused, "token_expired").reason).toBe("finalized");
    server.clock.advance(31 * MINUTE);
    expect(expectGone(await get(resumeToken), "token_expired").reason).toBe("ttl_elapsed");
  });

  it("[TOKENS-LAST-READS] so does the one of a cancelled submission", async () => {
    const made = await create(server, "open");
    const { resumeToken } = (await server.call("DELETE", `/resume/${made.resumeToken}`)).body;
    expect((await get(resumeToken)).body.state).toBe("cancelled");
    expectGone(await setFields(server, resumeToken, { name: "x" }), "cancelled");
  });
});

it("[TOKENS-NONE-IN-410] no 410 contains a token, for any caller", async () => {
  const creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  for (const key of [undefined, creator, server.adminKey]) {
    const cancelled = await create(server, "open", { key: creator });
    await server.call("DELETE", `/resume/${cancelled.resumeToken}`);
    const expired = await create(server, "open", { key: creator, ttlMs: MINUTE });
    const elapsed = await create(server, "tokens-hour", { key: creator });
    const revoked = await create(server, "open", { key: creator });
    await server.call("POST", `/submissions/${revoked.submissionId}/tokens/reissue`, { key: creator, body: {} });
    const finalized = await create(server, "open", { key: creator, fields: { name: "Ada" } });
    await submit(server, finalized.resumeToken);
    server.clock.advance(2 * HOUR);
    for (const { resumeToken, submissionId } of [cancelled, expired, elapsed, revoked, finalized]) {
      const options = key === undefined ? {} : { key, body: { actor: undefined } };
      const gone = [await setFields(server, resumeToken, { name: "x" }, options)];
      if (key !== undefined && ![elapsed, revoked].some((made) => made.submissionId === submissionId)) {
        const body = { fields: { name: "x" }, version: 2 };
        gone.push(await server.call("PATCH", `/submissions/${submissionId}/fields`, { key, body }));
      }
      for (const reply of gone) expectGone(reply, reply.body.error.type);
    }
  }
});
