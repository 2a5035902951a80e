import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailbox, handOff, visitor } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, allOf, create, DAY, expectError, expectGone, MINUTE, unchangedBy } from "../support/submissions.ts";

const EMAIL = "jane@example.com";
const mailbox = createMailbox();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ mailer: mailbox });
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());

/** A submission that waits for Jane, and the code that was mailed to her. */
async function mailed(request: Loose = {}): Promise<{ made: Loose; handoff: Loose; code: string }> {
  const made = await create(server, "forms");
  const handoff = await handOff(server, made.resumeToken, { kind: "magic_link", recipientEmail: EMAIL, ...request });
  return { made, handoff, code: mailbox.lastCode() };
}

const enter = (submissionId: string, code: string, email = EMAIL, rest: Loose = {}): Promise<Reply> =>
  server.call("POST", `/submissions/${submissionId}/sessions`, { body: { code, email, carrier: "header", ...rest } });

it("[HANDOFF-CODE] [HANDOFF-CODE-MAILED] [HANDOFF-AT-REST] the code is sent only to its reader, and opens one session", async () => {
  const { made, handoff, code } = await mailed({ message: "Please look." });
  const { submissionId } = made;
  expect(code).toMatch(/^[0-9A-Z]{10}$/);
  expect(allOf({ status: 201, headers: {}, body: handoff })).not.toContain(code);
  expect(handoff).toMatchObject({ kind: "magic_link", url: `${server.url}/resume/${submissionId}?code=` });
  expect(Date.parse(handoff.expiresAt)).toBe(server.clock.now() + 15 * MINUTE);
  const mail = mailbox.mails.at(-1);
  expect(mail).toMatchObject({ to: EMAIL, text: expect.stringContaining("Please look.") });
  expect(mail?.text).toContain(`${server.url}/resume/${submissionId}?code=${code}`);
  for (let count = 0; count < 3; count++) await server.call("GET", `/resume/${submissionId}?code=${code}`);
  const spelled = `${code.slice(0, 5).toLowerCase()}-${code.slice(5)}`;
  const opened = await enter(submissionId, spelled, "  Jane@Example.com ");
  expect(opened.body).toMatchObject({ actor: { kind: "human", id: EMAIL }, message: "Please look." });
  expect(Date.parse(opened.body.expiresAt)).toBe(server.clock.now() + DAY);
  expect((await visitor(server, submissionId, opened.body.session).fill({ name: "Jane" }, 1)).status).toBe(200);
  expect(expectGone(await enter(submissionId, code), "token_expired").reason).toBe("code_spent");
  const list = await server.call("GET", `/submissions/${submissionId}/handoffs`, { key: server.adminKey });
  expect(list.body.items).toMatchObject([{ status: "spent", recipientEmail: EMAIL }]);
  const all = await server.call("GET", `/submissions/${submissionId}/events?stream=all`, { key: server.adminKey });
  for (const text of [JSON.stringify(all.body), JSON.stringify(list.body), await server.atRest()]) {
    expect(text.includes(code)).toBe(false);
  }
});

it("[HANDOFF-CODE] an expired or revoked code opens nothing", async () => {
  const late = await mailed();
  server.clock.advance(16 * MINUTE);
  expect(expectGone(await enter(late.made.submissionId, late.code), "token_expired").reason).toBe("ttl_elapsed");
  const { made, handoff, code } = await mailed();
  await server.call("DELETE", `/resume/${made.resumeToken}/handoffs/${handoff.handoffId}`, { body: {} });
  expect(expectGone(await enter(made.submissionId, code), "token_expired").reason).toBe("handoff_revoked");
});

it("[HANDOFF-CODE-TRIES] five wrong codes, or five wrong addresses, and the sixth try is refused", async () => {
  for (const wrong of [
    (id: string) => enter(id, "0000000000"),
    (id: string, code: string) => enter(id, code, "eve@example.com"),
  ]) {
    const { made, code } = await mailed();
    const { submissionId } = made;
    for (let count = 0; count < 5; count++) expectError(await wrong(submissionId, code), 404, "token_invalid");
    expect(expectGone(await enter(submissionId, code), "token_expired").reason).toBe("code_spent");
    expectError(await wrong(submissionId, code), 404, "token_invalid");
    const { body } = await server.call("GET", `/submissions/${submissionId}/events?types=token.accessed`, {
      key: server.adminKey,
    });
    expect(body.events.filter(({ payload }: Loose) => payload.outcome === "failure")).toHaveLength(5);
  }
});

it("[HANDOFF-CODE-TRIES] simultaneous tries are all counted", async () => {
  const { made, code } = await mailed();
  await Promise.all(Array.from({ length: 8 }, () => enter(made.submissionId, "1111111111")));
  expectGone(await enter(made.submissionId, code), "token_expired");
});

it("[HANDOFF-CODE-TRIES] four wrong tries leave one; tries of another link are counted separately", async () => {
  const { made, code } = await mailed();
  await handOff(server, made.resumeToken, { kind: "magic_link", recipientEmail: "ann@example.com" });
  const annsCode = mailbox.lastCode();
  for (let count = 0; count < 4; count++) await enter(made.submissionId, "0000000000");
  for (let count = 0; count < 5; count++) await enter(made.submissionId, "0000000000", "ann@example.com");
  expect((await enter(made.submissionId, code)).status).toBe(201);
  expectGone(await enter(made.submissionId, annsCode, "ann@example.com"), "token_expired");
});

it("[HANDOFF-CODE-SAME] whatever is wrong, the response is the same", async () => {
  const { made, code } = await mailed();
  const other = await create(server, "forms");
  const shown = ({ status, body }: Reply): unknown => ({ status, body });
  const nobody = shown(await enter("sub_01977d3e-8c00-7000-8000-00000000dead", code));
  expect(nobody).toMatchObject({ status: 404, body: { error: { type: "token_invalid" } } });
  for (const reply of [
    await enter(made.submissionId, "0000000000"),
    await enter(made.submissionId, code, "eve@example.com"),
    await enter(made.submissionId, "0000000000", "eve@example.com"),
    await enter(other.submissionId, code),
  ]) {
    expect(shown(reply)).toEqual(nobody);
  }
});

it("[HANDOFF-CODE] needs an address, and the other kinds accept none", async () => {
  const { resumeToken } = await create(server, "forms");
  const ask = (body: Loose) =>
    server.call("POST", `/resume/${resumeToken}/handoffs`, { body: { actor: AGENT, ...body } });
  expectError(await ask({ kind: "magic_link" }), 400, "bad_request");
  expectError(await ask({ kind: "magic_link", recipientEmail: "nobody" }), 400, "bad_request");
});

it("[HANDOFF-NO-MAIL] a server without e-mail reports that, and records nothing", async () => {
  const metricsKey = "k".repeat(40);
  const silent = await startTestServer({ store: "memory", env: { FORMBRIDGE_METRICS_KEY: metricsKey } });
  await silent.putIntake({ id: "forms" });
  const { submissionId, resumeToken } = await create(silent, "forms");
  const body = { actor: AGENT, kind: "magic_link", recipientEmail: EMAIL };
  const reply = await unchangedBy(silent, submissionId, () =>
    silent.call("POST", `/resume/${resumeToken}/handoffs`, { body }),
  );
  expect(expectError(reply, 503, "service_unavailable").retryable).toBe(false);
  const metrics = await silent.call("GET", "/metrics", { key: metricsKey });
  expect(metrics.body).toContain('token_accessed_count_total{operation="handoff",outcome="refused"} 1');
  expect(metrics.body).not.toContain('outcome="error"');
  expect(metrics.body).not.toContain('reason="unavailable"');
  const list = await silent.call("GET", `/resume/${resumeToken}/handoffs`);
  expect(list.body.items).toEqual([]);
  await silent.stop();
});

it("[HANDOFF-NO-MAIL] mail that is not accepted is a 503, and nobody knows its code", async () => {
  const { resumeToken } = await create(server, "forms");
  mailbox.broken = true;
  const body = { actor: AGENT, kind: "magic_link", recipientEmail: EMAIL };
  const reply = await server.call("POST", `/resume/${resumeToken}/handoffs`, { body });
  mailbox.broken = false;
  expectError(reply, 503, "service_unavailable");
  expect(allOf(reply)).not.toContain("code=");
});

it("[HANDOFF-CODE-RATE] code attempts and mails are limited", async () => {
  const env = { FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_RATE_CODE_ATTEMPTS: "3", FORMBRIDGE_RATE_MAILS: "2" };
  const limited = await startTestServer({ store: "memory", env, mailer: mailbox });
  await limited.putIntake({ id: "forms" });
  const { submissionId, resumeToken } = await create(limited, "forms");
  const link = { actor: AGENT, kind: "magic_link", recipientEmail: EMAIL };
  const statuses = [];
  for (let count = 0; count < 3; count++)
    statuses.push((await limited.call("POST", `/resume/${resumeToken}/handoffs`, { body: link })).status);
  expect(statuses).toEqual([201, 201, 429]);
  const attempt = { body: { code: "0000000000", email: EMAIL } };
  for (let count = 0; count < 3; count++)
    expectError(await limited.call("POST", `/submissions/${submissionId}/sessions`, attempt), 404, "token_invalid");
  const over = await limited.call("POST", `/submissions/${submissionId}/sessions`, attempt);
  expectError(over, 429, "rate_limited");
  expect(Number(over.headers["retry-after"])).toBeGreaterThan(0);
  const right = { body: { code: mailbox.lastCode(), email: EMAIL } };
  expect((await limited.call("POST", `/submissions/${submissionId}/sessions`, right)).status).toBe(429);
  limited.clock.advance(MINUTE);
  expect((await limited.call("POST", `/submissions/${submissionId}/sessions`, right)).status).toBe(201);
  await limited.stop();
});
