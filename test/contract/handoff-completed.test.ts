import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, handOff, inLink, openSession, visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, expectError, expectNoToken, filled, HUMAN, history, record } from "../support/submissions.ts";

let server: TestServer;
const mailbox = createMailbox();
const EMAIL = "jane@example.com";

beforeAll(async () => {
  server = await startTestServer({ mailer: mailbox });
  await server.putIntake({ id: "form", name: "Moving house" });
});
afterAll(() => server.stop());

const told = async (submissionId: string): Promise<Loose[]> =>
  (await history(server, submissionId)).filter(({ type }) => type === "handoff.completed");

describe("a human's part is done", () => {
  it("[HANDOFF-COMPLETED] by either path, with what is missing, and without changing version or token", async () => {
    const made = await create(server, "form");
    const handoff = await handOff(server, made.resumeToken);
    const human = await visit(server, handoff, HUMAN);
    for (const path of [`/handoffs/${handoff.handoffId}/complete`, "/sessions/complete"]) {
      const reply = await human.call("POST", path, { body: {} });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({ version: 1, handoffId: handoff.handoffId, missingFields: ["name"] });
    }
    const events = await told(made.submissionId);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      actor: { ...HUMAN, proof: "link" },
      payload: { handoffId: handoff.handoffId, missingFields: ["name"] },
    });
    const read = await server.call("GET", `/resume/${made.resumeToken}`);
    expect(read.body.completedHandoff).toEqual({ handoffId: handoff.handoffId, completedAt: expect.any(String) });
  });

  it("[HANDOFF-COMPLETED] reported twice it is recorded once, unless something was written in between", async () => {
    const made = await create(server, "form");
    const handoff = await handOff(server, made.resumeToken);
    const human = await visit(server, handoff, HUMAN);
    const complete = () => human.call("POST", "/sessions/complete", { body: {} });
    const first = (await complete()).body;
    server.clock.advance(60_000);
    expect((await complete()).body).toEqual(first);
    expect(await told(made.submissionId)).toHaveLength(1);
    await human.fill({ name: "Ada" }, 1);
    const again = (await complete()).body;
    expect(again.completedAt > first.completedAt).toBe(true);
    expect((await told(made.submissionId)).map(({ payload }) => payload.missingFields)).toEqual([["name"], []]);
  });

  it("[HANDOFF-COMPLETED] by the person who opened a direct link, with its token or the one after it", async () => {
    const made = await create(server, "form");
    const { handoffId, url } = await handOff(server, made.resumeToken, { kind: "direct" });
    const [, , submissionId, token = ""] = new URL(url).pathname.split("/");
    const complete = (resumeToken: string, actor?: Loose) =>
      server.call("POST", `/submissions/${submissionId}/handoffs/${handoffId}/complete`, {
        body: { resumeToken, ...(actor && { actor }) },
      });
    expectError(await complete(token, AGENT), 403, "forbidden");
    expect((await complete(token)).body).toMatchObject({ handoffId, version: 1, missingFields: ["name"] });
    const next = await filled(server, token, { name: "Ada" }, { body: { actor: HUMAN } });
    expectError(await complete(token, HUMAN), 409, "token_conflict");
    expect((await complete(next.resumeToken, HUMAN)).body).toMatchObject({ version: 2, missingFields: [] });
    expect((await told(made.submissionId)).map(({ actor }) => actor)).toEqual([
      { kind: "human", id: handoffId, declared: true },
      { ...HUMAN, declared: true },
    ]);
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const body = { resumeToken: next.resumeToken };
    const path = `/submissions/${submissionId}/handoffs/${handoffId}/complete`;
    expectError(await server.call("POST", path, { key, body }), 403, "forbidden");
    const reissue = { key: server.adminKey, body: {} };
    const fresh = await server.call("POST", `/submissions/${submissionId}/tokens/reissue`, reissue);
    expectError(await complete(fresh.body.resumeToken, HUMAN), 403, "forbidden");
  });

  it("[HANDOFF-COMPLETED] with their submit, too", async () => {
    const made = await create(server, "form", { fields: { name: "Ada" } });
    const handoff = await handOff(server, made.resumeToken);
    const human = await visit(server, handoff, HUMAN);
    const sent = await human.call("POST", "/submit", { body: { version: 1, idempotencyKey: "done" } });
    expect(sent.body.state).toBe("finalized");
    expect((await told(made.submissionId)).map(({ payload }) => payload)).toEqual([
      { handoffId: handoff.handoffId, missingFields: [] },
    ]);
  });

  it("[HANDOFF-COMPLETED] can't be reported by anybody else", async () => {
    const made = await create(server, "form");
    const [one, other] = [await handOff(server, made.resumeToken), await handOff(server, made.resumeToken)];
    const human = await visit(server, one, HUMAN);
    const path = `/handoffs/${other.handoffId}/complete`;
    expectError(await human.call("POST", path, { body: {} }), 403, "forbidden");
    const byToken = { body: { resumeToken: made.resumeToken } };
    expectError(await server.call("POST", `/submissions/${made.submissionId}${path}`, byToken), 403, "forbidden");
    expect(await told(made.submissionId)).toEqual([]);
  });
});

describe("who is working on it", () => {
  it("[HANDOFF-ACTIVITY] the record names who wrote within the last minute", async () => {
    const made = await create(server, "form");
    const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    const at = () => new Date(server.clock.now()).toISOString();
    const begun = at();
    server.clock.advance(30_000);
    const set = await human.fill({ note: "x" }, 1);
    expect(set.status).toBe(200);
    expect((await record(server, made.submissionId)).recentActivity).toMatchObject({
      byAgent: { actor: AGENT, at: begun },
      byHuman: { actor: { ...HUMAN, proof: "link" }, at: at() },
    });
    server.clock.advance(31_000);
    expect(Object.keys((await record(server, made.submissionId)).recentActivity)).toEqual(["byHuman"]);
    server.clock.advance(60_000);
    expect(await record(server, made.submissionId)).not.toHaveProperty("recentActivity");
  });
});

describe("a link for later", () => {
  it("[HANDOFF-LATER] a session makes one for itself, as the same actor and no other", async () => {
    const made = await create(server, "form");
    const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    const later = await human.call("POST", "/handoffs", { body: { kind: "session", recipientEmail: EMAIL } });
    expect(later.status).toBe(201);
    expectNoToken(later);
    expect(mailbox.mails.at(-1)).toMatchObject({ to: EMAIL, text: expect.stringContaining(later.body.url) });
    expect(mailbox.mails.at(-1)?.text).toContain("You asked for this link");
    expect((await human.call("GET", "/intake")).body.sendsMail).toBe(true);
    const opened = await openSession(server, later.body, { carrier: "header" });
    expect(opened.body.actor).toEqual({ ...HUMAN, declared: true, proof: "link" });
    const asAnother = await openSession(server, later.body, { actor: { kind: "human", id: "eve" } });
    expectError(asAnother, 403, "forbidden");
  });

  it("[HANDOFF-LATER] it passes on neither the token nor the form", async () => {
    const made = await create(server, "form");
    const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    for (const body of [{ kind: "direct" }, { allowedActors: [{ kind: "human", id: "eve" }] }]) {
      expectError(await human.call("POST", "/handoffs", { body }), 403, "forbidden");
    }
  });
});

describe("mail", () => {
  it.each(["session", "qr", "direct", "magic_link"])("[HANDOFF-MAILED] brings a %s link", async (kind) => {
    const made = await create(server, "form");
    const handoff = await handOff(server, made.resumeToken, { kind, recipientEmail: EMAIL });
    const mail = mailbox.mails.at(-1);
    expect(mail?.to).toBe(EMAIL);
    expect(mail?.subject).toContain("Moving house");
    expect(mail?.text).toMatch(/Still missing:\s+- name/);
    expect(mail?.text).toMatch(/\((?:\d+ (?:days?|hours?|minutes?) ?)+left\)/);
    expect(mail?.text).toContain("Do not share");
    if (kind !== "magic_link") expect(mail?.text).toContain(handoff.url);
    if (kind === "session" || kind === "qr") expect(inLink(handoff.url)).not.toBe("");
    const next = await filled(server, made.resumeToken, { name: "Ada" });
    await handOff(server, next.resumeToken, { kind, recipientEmail: EMAIL });
    expect(mailbox.mails.at(-1)?.text).not.toContain("Still missing");
  });
});
