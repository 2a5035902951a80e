import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  allOf,
  create,
  DAY,
  expectError,
  expectGone,
  expectNoToken,
  filled,
  HOUR,
  HUMAN,
  SECOND,
  setFields,
  submit,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;

const text = { type: "string" };
const schema = {
  type: "object",
  properties: {
    name: text,
    note: text,
    ssn: { type: "string", "x-sensitive": true },
    address: { type: "object", properties: { city: text, zip: text } },
    people: {
      type: "array",
      items: { type: "object", properties: { id: text, pin: { ...text, "x-sensitive": true } } },
    },
  },
};

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open", schema });
  await server.putIntake({ id: "private", schema, tokens: { discloseCurrent: false } });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: {} }] });
  await server.putIntake({ id: "brief", tokens: { ttlMs: HOUR } });
});
afterAll(() => server.stop());

/** A submission that a human wrote to after the agent had read it: the agent's token is stale. */
async function overtaken(intakeId: string, mine: object, theirs: object): Promise<Loose> {
  const made = await create(server, intakeId, { fields: mine as Record<string, unknown> });
  const current = await filled(server, made.resumeToken, theirs as Record<string, unknown>, { body: { actor: HUMAN } });
  return { submissionId: made.submissionId, stale: made.resumeToken, current };
}

describe("a stale token on a write", () => {
  it("[TOKENS-STALE-WRITE] a stale token can't overwrite a newer version, and gets what it needs to continue", async () => {
    const { submissionId, stale, current } = await overtaken("open", { name: "Ada" }, { name: "Grace" });
    const reply = await unchangedBy(server, submissionId, () => setFields(server, stale, { name: "Mine" }));
    const error = expectError(reply, 409, "token_conflict");
    expect(reply.body).toMatchObject({
      submissionId,
      state: "in_progress",
      version: 2,
      resumeToken: current.resumeToken,
    });
    expect(error).toMatchObject({ retryable: true, yourVersion: 1 });
    expect(error.current).toEqual({
      version: 2,
      fields: { name: "Grace" },
      updatedAt: new Date(server.clock.now()).toISOString(),
      updatedBy: { ...HUMAN, declared: true },
    });
    expect(error.nextActions.map((next: Loose) => next.action)).toContain("fetch_current_state");
    expect(reply.headers.etag).toBe(`"${current.resumeToken}"`);
    expect((await setFields(server, reply.body.resumeToken, { name: "Mine" })).status).toBe(200);
  });

  it("[TOKENS-STALE-WRITE] every operation that writes refuses it", async () => {
    const { submissionId, stale } = await overtaken("open", { name: "Ada" }, { note: "x" });
    const upload = { field: "w9", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 1, actor: AGENT };
    const acts: (() => Promise<Reply>)[] = [
      () => submit(server, stale),
      () => server.call("DELETE", `/resume/${stale}`),
      () => server.call("POST", `/resume/${stale}/validate`),
      () => server.call("POST", `/resume/${stale}/uploads`, { body: upload }),
      () => server.call("POST", `/resume/${stale}/uploads/upl_1/confirm`, { body: { actor: AGENT } }),
    ];
    for (const act of acts) expectError(await unchangedBy(server, submissionId, act), 409, "token_conflict");
  });

  it("[TOKENS-STALE-FIELDS] a field that both changed is a conflict, by its dot-path", async () => {
    const { stale } = await overtaken("open", {}, { address: { city: "Bern" }, note: "n" });
    const { error } = (await setFields(server, stale, { "address.city": "Rome", name: "x" })).body;
    expect(error.conflictDetails).toEqual({ fields: ["address.city"], canAutoMerge: false });
  });

  it("[TOKENS-STALE-FIELDS] fields that nobody else touched are none, and can be merged", async () => {
    const { stale } = await overtaken("open", {}, { address: { city: "Bern" } });
    const { error } = (await setFields(server, stale, { "address.zip": "3000", name: "x" })).body;
    expect(error.conflictDetails).toEqual({ fields: [], canAutoMerge: true });
  });

  it("[TOKENS-STALE-FIELDS] the same value on both sides is no conflict", async () => {
    const { stale } = await overtaken("open", { name: "Ada" }, { name: "Grace", note: "n" });
    const { error } = (await setFields(server, stale, { name: "Grace", note: "mine" })).body;
    expect(error.conflictDetails).toEqual({ fields: ["note"], canAutoMerge: false });
  });

  it("[TOKENS-STALE-FIELDS] setting what somebody else deleted meanwhile is a conflict", async () => {
    const { stale } = await overtaken("open", { name: "Ada" }, { name: null });
    const { error } = (await setFields(server, stale, { name: "Mine" })).body;
    expect(error.conflictDetails).toEqual({ fields: ["name"], canAutoMerge: false });
  });

  it("[TOKENS-STALE-MASKED] sensitive values are masked in its response, at any depth", async () => {
    const secrets = { ssn: "123-45-6789", people: [{ id: "p1", pin: "9876" }] };
    const { stale } = await overtaken("open", { name: "Ada" }, secrets);
    const reply = await setFields(server, stale, { ssn: "000-00-0000" });
    expectError(reply, 409, "token_conflict");
    expect(reply.body.error.conflictDetails.fields).toEqual(["ssn"]);
    expect(reply.body.error.current.fields).toMatchObject({ name: "Ada", people: [{ id: "p1" }] });
    for (const secret of ["123-45-6789", "9876", "000-00-0000"]) expect(allOf(reply)).not.toContain(secret);
  });

  it("[TOKENS-STALE-PRIVATE] an intake may withhold the current token and values", async () => {
    const { submissionId, stale } = await overtaken("private", { name: "Ada" }, { name: "Grace" });
    const reply = await unchangedBy(server, submissionId, () => setFields(server, stale, { name: "Mine" }));
    const error = expectError(reply, 409, "token_conflict");
    expectNoToken(reply);
    expect(allOf(reply)).not.toContain("Grace");
    expect(error.current).toBeUndefined();
    expect(reply.body.version).toBe(2);
  });

  it("[TOKENS-STALE-CLOSED] once submitted, a stale token learns nothing but that it is stale", async () => {
    const made = await create(server, "gated", { fields: { name: "Secret" } });
    await submit(server, made.resumeToken);
    const reply = await unchangedBy(server, made.submissionId, () =>
      setFields(server, made.resumeToken, { name: "x" }),
    );
    expectError(reply, 409, "token_conflict");
    expectNoToken(reply);
    expect(allOf(reply)).not.toContain("Secret");
  });

  it("[TOKENS-STALE-REMEMBERED] it is known as stale until its own expiry, sweeps or not", async () => {
    const { stale } = await overtaken("open", { name: "Ada" }, { name: "Grace" });
    server.clock.advance(7 * DAY - HOUR);
    await server.server.core.operations.sweep();
    expectError(await setFields(server, stale, { name: "Mine" }), 409, "token_conflict");
  });

  it("[TOKENS-EXPIRED] when it has expired, a stale token gets neither token nor values", async () => {
    const made = await create(server, "brief", { fields: { name: "Ada" } });
    server.clock.advance(HOUR / 2);
    await filled(server, made.resumeToken, { name: "Grace" });
    server.clock.advance(HOUR / 2 + 31 * SECOND);
    const reply = await unchangedBy(server, made.submissionId, () =>
      setFields(server, made.resumeToken, { name: "x" }),
    );
    expect(expectGone(reply, "token_expired").reason).toBe("ttl_elapsed");
    expect(allOf(reply)).not.toContain("Grace");
  });
});

describe("a stale token on a read", () => {
  it("[TOKENS-GRACE] for 30 s after its rotation it reads the current state", async () => {
    const { submissionId, stale, current } = await overtaken("open", { name: "Ada" }, { name: "Grace" });
    server.clock.advance(30 * SECOND - 1);
    const read = await server.call("GET", `/resume/${stale}`);
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({
      submissionId,
      version: 2,
      fields: { name: "Grace" },
      resumeToken: current.resumeToken,
    });
    const events = await server.call("GET", `/resume/${stale}/events`);
    expect(events.body.events).toHaveLength(3);
  });

  it("[TOKENS-GRACE-OVER] then it is a 409 like the one of a write", async () => {
    const { submissionId, stale, current } = await overtaken("open", { name: "Ada" }, { name: "Grace" });
    server.clock.advance(30 * SECOND);
    for (const path of [`/resume/${stale}`, `/resume/${stale}/events`, `/submissions/${stale}`]) {
      const reply = await server.call("GET", path);
      const error = expectError(reply, 409, "token_conflict");
      expect(reply.body).toMatchObject({ submissionId, version: 2, resumeToken: current.resumeToken });
      expect(error).toMatchObject({ yourVersion: 1, current: { version: 2, fields: { name: "Grace" } } });
    }
  });

  it("[TOKENS-GRACE-OVER] the grace counts from the token's own rotation, not from the last one", async () => {
    const { stale, current } = await overtaken("open", { name: "Ada" }, { name: "Grace" });
    server.clock.advance(20 * SECOND);
    await filled(server, current.resumeToken, { name: "Edsger" });
    server.clock.advance(20 * SECOND);
    expectError(await server.call("GET", `/resume/${stale}`), 409, "token_conflict");
    expect((await server.call("GET", `/resume/${current.resumeToken}`)).status).toBe(200);
  });

  it("[TOKENS-GRACE-PRIVATE] where a write's 409 withholds token and values, so do reads", async () => {
    const { stale } = await overtaken("private", { name: "Ada" }, { name: "Grace" });
    for (const wait of [0, 31 * SECOND]) {
      server.clock.advance(wait);
      for (const path of [`/resume/${stale}`, `/resume/${stale}/events`]) {
        const reply = await server.call("GET", path);
        expectNoToken(reply);
        expect(allOf(reply)).not.toContain("Grace");
      }
    }
    expectError(await server.call("GET", `/resume/${stale}`), 409, "token_conflict");
  });

  it("[TOKENS-GRACE-PRIVATE] a read does not reveal more of what was submitted meanwhile, either", async () => {
    const made = await create(server, "gated", { fields: { name: "Secret" } });
    await submit(server, made.resumeToken);
    const inGrace = await server.call("GET", `/resume/${made.resumeToken}`);
    expect(inGrace.body).toMatchObject({ state: "needs_review", version: 2 });
    server.clock.advance(31 * SECOND);
    const late = await server.call("GET", `/resume/${made.resumeToken}`);
    expectError(late, 409, "token_conflict");
    for (const reply of [inGrace, late]) {
      expectNoToken(reply);
      expect(allOf(reply)).not.toContain("Secret");
    }
  });

  it("[TOKENS-GRACE-PRIVATE] a grace read shows sensitive values no better than the 409 would", async () => {
    const { stale } = await overtaken("open", { name: "Ada" }, { ssn: "123-45-6789" });
    const inGrace = await server.call("GET", `/resume/${stale}`);
    expect(inGrace.status).toBe(200);
    expect(allOf(inGrace)).not.toContain("123-45-6789");
  });
});
