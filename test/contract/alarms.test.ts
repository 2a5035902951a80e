import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMailbox, handOff, type Mailbox, visit } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, eventsOf, expectRefusal, read, setFields, submit } from "../support/moves.ts";
import { gated, reject, review, reviewerKey, submitted } from "../support/reviews.ts";
import { createScriptedCourier, type ScriptedCourier } from "../support/scripted-courier.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BLOCK_MS = HOUR / 2;
const HOOK = "https://ops.invalid/incidents";

let server: TestServer;
let mailbox: Mailbox;
let courier: ScriptedCourier;
let hosts = 0;

beforeAll(async () => {
  mailbox = createMailbox();
  courier = createScriptedCourier();
  server = await startTestServer({
    mailer: mailbox,
    courier,
    env: {
      FORMBRIDGE_TRUST_PROXY: "1",
      FORMBRIDGE_COUNTRY_HEADER: "CF-IPCountry",
      FORMBRIDGE_AUDIT_FLUSH_MS: "3600000",
      FORMBRIDGE_SWEEP_INTERVAL_MS: "3600000",
      FORMBRIDGE_NOTIFY_URL: HOOK,
      FORMBRIDGE_ALARM_MAIL: "ops@example.com",
      FORMBRIDGE_SUBMISSION_TTL_MS: String(60 * DAY),
      FORMBRIDGE_TOKEN_TTL_MS: String(30 * DAY),
      FORMBRIDGE_ALARM_BLOCK_MS: String(BLOCK_MS),
      FORMBRIDGE_ALARM_RESPONSES: "expired_tokens_probed:block,failed_lookups:block",
    },
  });
  await server.putIntake({ id: "forms" });
});
afterAll(() => server.stop());
beforeEach(() => {
  courier.sent.splice(0);
  server.clock.advance(2 * HOUR);
});

const flush = () => server.server.core.operations.flushAudit();
const from = (address: string, country?: string) => ({
  headers: { "x-forwarded-for": address, ...(country && { "cf-ipcountry": country }) },
});
const newHost = () => `198.51.${Math.floor(++hosts / 250)}.${(hosts % 250) + 1}`;
const resume = (token: string, address: string, country?: string): Promise<Reply> =>
  server.call("GET", `/resume/${token}`, from(address, country));
const guess = (index: number) => `rtok_${String(index).padStart(43, "A")}`;
const list = async (query: string, key = server.adminKey): Promise<Loose[]> =>
  (await server.call("GET", `/incidents?${query}`, { key })).body.items;
const about = async ({ submissionId }: Loose): Promise<Loose[]> => {
  await flush();
  return await list(`submissionId=${submissionId}`);
};
const close = (incidentId: string, body: Loose = {}, key = server.adminKey) =>
  server.call("POST", `/incidents/${incidentId}/close`, { key, body });

describe("each alarm is raised by its attack and not by similar harmless traffic", () => {
  it("[ALARMS-TRIP] token_shared: one token from four addresses in five minutes", async () => {
    const made = await created(server, "forms");
    for (let host = 0; host < 3; host++) await resume(made.resumeToken, newHost());
    expect(await about(made)).toEqual([]);
    server.clock.advance(5 * MINUTE);
    await resume(made.resumeToken, newHost());
    expect(await about(made)).toEqual([]);
    for (let host = 0; host < 3; host++) await resume(made.resumeToken, newHost());
    const [incident, ...more] = await about(made);
    expect(more).toEqual([]);
    expect(incident).toMatchObject({ kind: "token_shared", state: "open", count: 4, threshold: 3, intakeId: "forms" });
    expect(JSON.stringify(incident)).not.toContain(made.resumeToken);
    const events = await eventsOf(server, made.submissionId, "types=security.incident");
    expect(events.map(({ stream, actor, payload }) => [stream, actor, payload])).toEqual([
      ["submission", { kind: "system", id: "watch" }, expect.objectContaining({ incidentId: incident.incidentId })],
    ]);
    const told = courier.sent.map(({ body }) => JSON.parse(body));
    expect(told).toEqual([expect.objectContaining({ type: "security.incident", incidentId: incident.incidentId })]);
    expect(mailbox.mails.at(-1)).toMatchObject({ to: "ops@example.com", subject: "Security incident: token_shared" });
  });

  it("[ALARMS-TRIP] token_enumeration: one address with the tokens of 101 submissions in a minute", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const tokens: string[] = [];
    for (let index = 0; index < 101; index++) tokens.push((await created(server, "forms", { key })).resumeToken);
    const [thief, agent] = [newHost(), newHost()];
    for (const token of tokens.slice(1)) await resume(token, thief);
    // A caller with a key is known by it.
    for (const token of tokens) await server.call("GET", `/resume/${token}`, { key, ...from(agent) });
    await flush();
    expect(await list("kind=token_enumeration")).toEqual([]);
    await resume(tokens[0] ?? "", thief);
    await flush();
    expect(await list("kind=token_enumeration")).toEqual([expect.objectContaining({ address: thief, count: 101 })]);
  });

  it("[ALARMS-TRIP] [ALARMS-BLOCK] failed_lookups: 51 unknown tokens from one address, which is blocked for a time", async () => {
    const host = newHost();
    for (let index = 0; index < 50; index++) expect((await resume(guess(index), host)).status).toBe(404);
    await flush();
    expect(await list("kind=failed_lookups")).toEqual([]);
    await resume(guess(50), host);
    await flush();
    const [incident] = await list("kind=failed_lookups");
    expect(incident).toMatchObject({
      address: host,
      responses: expect.arrayContaining([{ response: "block", outcome: "done" }]),
    });
    const made = await created(server, "forms");
    const refused = await resume(made.resumeToken, host);
    expectRefusal(refused, 403, "forbidden");
    expect(refused.body.error).toMatchObject({ reason: "address_blocked", retryAfterMs: BLOCK_MS });
    expect((await create(server, "forms", from(host))).status).toBe(403);
    expect((await resume(made.resumeToken, newHost())).status).toBe(200);
    // An API key says who calls, so it isn't refused.
    expect((await server.call("GET", "/blocks", { key: server.adminKey, ...from(host) })).body.items).toHaveLength(1);
    server.clock.advance(BLOCK_MS + 1);
    expect((await resume(made.resumeToken, host)).status).toBe(200);
  });

  it("[ALARMS-TRIP] expired_token_reused and expired_tokens_probed", async () => {
    const expired: Loose[] = [];
    for (let index = 0; index < 6; index++) {
      const made = await created(server, "forms");
      await server.call("POST", `/submissions/${made.submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
      expired.push(made);
    }
    const [first] = expired;
    const [one, scanner] = [newHost(), newHost()];
    for (let use = 0; use < 5; use++) expect((await resume(first.resumeToken, one)).status).toBe(410);
    expect(await about(first)).toEqual([]);
    await resume(first.resumeToken, one);
    expect((await about(first)).map(({ kind }) => kind)).toEqual(["expired_token_reused"]);
    for (const { resumeToken } of expired.slice(1)) await resume(resumeToken, scanner);
    await flush();
    expect(await list("kind=expired_tokens_probed")).toEqual([]);
    await resume(first.resumeToken, scanner);
    await flush();
    expect(await list("kind=expired_tokens_probed")).toEqual([expect.objectContaining({ address: scanner, count: 6 })]);
  });

  it("[ALARMS-TRIP] submission_conflicts: eleven of one submission", async () => {
    const made = await created(server, "forms");
    await setFields(server, made.resumeToken, { name: "Ada" });
    const conflict = () => setFields(server, made.resumeToken, { name: "Bob" });
    for (let use = 0; use < 10; use++) expect((await conflict()).status).toBe(409);
    expect(await about(made)).toEqual([]);
    await conflict();
    expect((await about(made)).map(({ kind }) => kind)).toEqual(["submission_conflicts"]);
  });

  it("[ALARMS-TRIP] dormant_token: the first use after two weeks, but not if somebody read meanwhile", async () => {
    const [idle, read] = [await created(server, "forms"), await created(server, "forms")];
    server.clock.advance(10 * DAY);
    await resume(read.resumeToken, newHost());
    await flush();
    server.clock.advance(5 * DAY);
    await resume(read.resumeToken, newHost());
    await resume(idle.resumeToken, newHost());
    expect(await about(read)).toEqual([]);
    expect((await about(idle)).map(({ kind }) => kind)).toEqual(["dormant_token"]);
  });

  it("[ALARMS-TRIP] country_changed: the token is used elsewhere; a hand-off session may be", async () => {
    const made = (await create(server, "forms", from(newHost(), "US"))).body;
    await resume(made.resumeToken, newHost(), "us");
    const human = await visit(server, await handOff(server, made.resumeToken));
    await human.call("GET", "", from(newHost(), "DE"));
    // The proxy doesn't know the country of every address.
    const proxied = newHost();
    for (const unknown of ["XX", "ZZ", "T1"]) await resume(made.resumeToken, proxied, unknown);
    expect(await about(made)).toEqual([]);
    await resume(made.resumeToken, proxied, "DE");
    expect((await about(made)).map(({ kind }) => kind)).toEqual(["country_changed"]);
  });

  it("[ALARMS-TRIP] agent_after_handoff: the agent writes within a minute after the human took over", async () => {
    const opened = async (): Promise<Loose> => {
      const made = await created(server, "forms");
      await visit(server, await handOff(server, made.resumeToken));
      return made;
    };
    const [late, early] = [await opened(), await opened()];
    server.clock.advance(30_000);
    await setFields(server, early.resumeToken, { name: "bot" });
    server.clock.advance(31_000);
    await setFields(server, late.resumeToken, { name: "bot" });
    expect(await about(late)).toEqual([]);
    expect((await about(early)).map(({ kind }) => kind)).toEqual(["agent_after_handoff"]);
  });

  it("[ALARMS-TRIP] agent_after_handoff: also if the agent writes by id, with its API key", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const made = await created(server, "forms", { key });
    await visit(server, await handOff(server, made.resumeToken));
    const call = { key, headers: { "if-match": '"1"' }, body: { fields: { name: "bot" } } };
    expect((await server.call("PATCH", `/submissions/${made.submissionId}/fields`, call)).status).toBe(200);
    const [incident, ...more] = await about(made);
    expect([incident?.kind, more]).toEqual(["agent_after_handoff", []]);
  });

  it("[ALARMS-TRIP] agent_after_handoff: an agent may review at once what a human has submitted", async () => {
    const gate = { name: "lead", reviewers: { ids: ["checker"], allowAgents: true } };
    const intake = await gated(server, [gate]);
    const agent = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const human = await server.makeKey({ roles: ["agent"], actor: { kind: "human", id: "ada" } });
    const made = await created(server, intake, { key: agent, body: { initialFields: { name: "Ada" } } });
    expect((await submit(server, made.resumeToken, crypto.randomUUID(), { key: human })).body.state).toBe(
      "needs_review",
    );
    const checker = await server.makeKey({ roles: ["reviewer"], actor: { kind: "agent", id: "checker" } });
    expect((await review(server, made.submissionId, checker)).status).toBe(200);
    expect(await about(made)).toEqual([]);
  });

  it("[ALARMS-TRIP] agent_after_handoff: whoever only says that they are human doesn't take over", async () => {
    const made = await created(server, "forms");
    const body = { actor: { kind: "human", id: "ada" }, fields: { name: "Ada" } };
    const byHuman = await server.call("PATCH", `/resume/${made.resumeToken}/fields`, { body });
    expect((await setFields(server, byHuman.body.resumeToken, { name: "bot" })).status).toBe(200);
    expect(await about(made)).toEqual([]);
  });

  it("[ALARMS-TRIP] agent_after_handoff: an agent may correct at once what a reviewer has rejected", async () => {
    const made = await submitted(server, await gated(server, [{ name: "lead", reviewers: { ids: ["tara"] } }]));
    expect((await reject(server, made.submissionId, await reviewerKey(server, "tara"))).body.state).toBe("rejected");
    const { resumeToken } = (await read(server, made.submissionId, server.adminKey)).body;
    expect((await setFields(server, resumeToken, { name: "bot" })).status).toBe(200);
    expect(await about(made)).toEqual([]);
  });
});

describe("incidents", () => {
  const trip = async (made: Loose): Promise<Loose> => {
    for (let host = 0; host < 4; host++) await resume(made.resumeToken, newHost());
    return (await about(made))[0];
  };

  it("a notification that fails is repeated, and the mail beside it is sent once", async () => {
    const made = await created(server, "forms");
    courier.next("forms", { kind: "failed", error: "refused" });
    const mails = () => mailbox.mails.filter(({ text }) => text.includes(made.submissionId)).length;
    expect((await trip(made)).responses).toEqual([]);
    expect([courier.sent.length, mails()]).toEqual([1, 0]);
    server.clock.advance(2 * MINUTE);
    await flush();
    expect([courier.sent.length, mails()]).toEqual([2, 1]);
    expect((await about(made))[0]?.responses).toEqual([{ response: "notify_operator", outcome: "done" }]);
  });

  it("[ALARMS-ONCE] an ongoing attack is one incident, and a new one after a quiet time", async () => {
    const made = await created(server, "forms");
    const first = await trip(made);
    for (let round = 0; round < 4; round++) {
      server.clock.advance(3 * MINUTE);
      await trip(made);
    }
    const [only, ...more] = await about(made);
    expect([only.incidentId, more]).toEqual([first.incidentId, []]);
    expect(Date.parse(only.lastSeenAt)).toBeGreaterThan(Date.parse(first.lastSeenAt));
    server.clock.advance(HOUR);
    await trip(made);
    expect(await about(made)).toHaveLength(2);
  });

  it("[ALARMS-ONCE] [ALARMS-BLOCK] an attack that goes on when its block ends is a new incident, and blocked again", async () => {
    const host = newHost();
    const expired: Loose[] = [];
    for (let index = 0; index < 7; index++) {
      const made = await created(server, "forms");
      await server.call("POST", `/submissions/${made.submissionId}/tokens/revoke`, { key: server.adminKey, body: {} });
      expired.push(made);
    }
    const probe = async (): Promise<Reply> => {
      for (const { resumeToken } of expired) await resume(resumeToken, host);
      await flush();
      return await resume(expired[0].resumeToken, host);
    };
    expect((await probe()).status).toBe(403);
    const [first] = await list("kind=expired_tokens_probed");
    server.clock.advance(BLOCK_MS + 1);
    expect((await resume(expired[0].resumeToken, host)).status).toBe(410);
    expect((await probe()).status).toBe(403);
    expect((await list("kind=expired_tokens_probed"))[0]).toMatchObject({ address: host, state: "open" });
    expect((await list("kind=expired_tokens_probed"))[0].incidentId).not.toBe(first?.incidentId);
  });

  it("[ALARMS-HANDLE] an admin acknowledges and closes; twice is once", async () => {
    const { incidentId } = await trip(await created(server, "forms"));
    const acknowledge = () =>
      server.call("POST", `/incidents/${incidentId}/acknowledge`, { key: server.adminKey, body: { note: "mine" } });
    expect((await acknowledge()).body.incident).toMatchObject({ state: "acknowledged", note: "mine" });
    const again = (await acknowledge()).body.incident;
    const closed = (await close(incidentId)).body.incident;
    expect(closed).toMatchObject({ state: "closed", falsePositive: false, acknowledged: again.acknowledged });
    expect((await close(incidentId)).body.incident).toEqual(closed);
    expect((await acknowledge()).body.incident).toMatchObject({ state: "closed" });
    expect((await list("state=open&limit=1000")).map((one) => one.incidentId)).not.toContain(incidentId);
  });

  it("[ALARMS-HANDLE] pages with signed tokens, and refuses filters that don't exist", async () => {
    await trip(await created(server, "forms"));
    const get = (query: string) => server.call("GET", `/incidents?${query}`, { key: server.adminKey });
    const page = (await get("limit=1&state=open")).body;
    const next = (await get(`pageToken=${page.nextPageToken}`)).body;
    expect(next.items[0].incidentId < page.items[0].incidentId).toBe(true);
    expectRefusal(await get(`pageToken=${page.nextPageToken}&state=closed`), 400, "bad_request");
    expectRefusal(await get("state=gone"), 400, "bad_request");
    expectRefusal(await get("kind=theft"), 400, "bad_request");
  });

  it("[ALARMS-HANDLE] nobody but an admin of the tenant sees, closes or blocks", async () => {
    const { incidentId } = await trip(await created(server, "forms"));
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "v" } });
    const stranger = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "s" }, tenant: "acme" });
    const limited = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "l" }, intakes: ["other"] });
    expectRefusal(await server.call("GET", "/incidents"), 401, "unauthorized");
    expectRefusal(await server.call("GET", "/incidents", { key: viewer }), 403, "forbidden");
    expectRefusal(await server.call("GET", "/blocks", { key: viewer }), 403, "forbidden");
    expectRefusal(await server.call("GET", "/blocks", { key: limited }), 403, "forbidden");
    expectRefusal(await close(incidentId, {}, viewer), 403, "forbidden");
    for (const key of [stranger, limited]) {
      expect(await list("limit=1000", key)).toEqual([]);
      expectRefusal(await close(incidentId, {}, key), 404, "not_found");
    }
    expectRefusal(await close("inc_nope"), 404, "not_found");
  });

  it("[ALARMS-POLICY] [ALARMS-UNDO] an intake's policy revokes, and closing as a false positive issues a new token", async () => {
    await server.putIntake({
      id: "strict",
      alarms: { token_shared: { threshold: 1, responses: ["revoke", "block"] } },
    });
    await server.putIntake({ id: "lax", alarms: { token_shared: false } });
    const lax = await created(server, "lax");
    expect(await trip(lax)).toBeUndefined();
    const made = await created(server, "strict");
    const [home, away] = [newHost(), newHost()];
    await resume(made.resumeToken, home);
    expect(await about(made)).toEqual([]);
    await resume(made.resumeToken, away);
    const [{ incidentId, responses }] = await about(made);
    expect(responses.map(({ outcome }: Loose) => outcome)).toEqual(["done", "done", "done"]);
    expect((await resume(made.resumeToken, home)).body.error).toMatchObject({ reason: "admin_revoked" });
    expect((await resume(made.resumeToken, away)).body.error).toMatchObject({ reason: "address_blocked" });
    const undone = await close(incidentId, { falsePositive: true });
    expect(undone.body).toMatchObject({ liftedBlocks: 1, reissued: true, incident: { falsePositive: true } });
    expect((await close(incidentId, { falsePositive: true })).body).toMatchObject({ liftedBlocks: 0, reissued: false });
    const { resumeToken } = (await read(server, made.submissionId, server.adminKey)).body;
    expect((await resume(resumeToken, away)).status).toBe(200);
  });

  it("[ALARMS-POLICY] reissue: the old token ends, and the creator's key reads a new one; the creator is mailed", async () => {
    const alarms: Loose = { token_shared: { responses: ["reissue", "notify_creator"] } };
    await server.putIntake({ id: "reissued", access: "key", alarms });
    const actor = { kind: "human" as const, id: "ada", metadata: { email: "ada@example.com" } };
    const key = await server.makeKey({ roles: ["agent"], actor });
    const made = (await server.call("POST", "/intakes/reissued/submissions", { key, body: { actor } })).body;
    await trip(made);
    expect((await resume(made.resumeToken, newHost())).status).toBe(410);
    const { resumeToken } = (await read(server, made.submissionId, key)).body;
    expect((await resume(resumeToken, newHost())).status).toBe(200);
    const mail = mailbox.mails.find(({ to }) => to === "ada@example.com");
    expect(mail?.subject).toMatch(/^Unusual activity/);
    expect(JSON.stringify(mail)).not.toMatch(/rtok_/);
  });

  it("[ALARMS-POLICY] an invalid policy is refused with its location", async () => {
    const put = (alarms: Loose) =>
      server.call("PUT", "/intakes/odd", {
        key: server.adminKey,
        body: {
          id: "odd",
          version: "1",
          name: "Odd",
          schema: { type: "object" },
          destination: { kind: "store" },
          alarms,
        },
      });
    const both = await put({ token_shared: { responses: ["revoke", "reissue"] } });
    expectRefusal(both, 422, "invalid");
    expect(both.body.error.fields).toEqual([expect.objectContaining({ path: "alarms.token_shared" })]);
    expectRefusal(await put({ dormant_token: { windowMs: 1000 } }), 422, "invalid");
    expectRefusal(await put({ country_changed: { threshold: 1 } }), 422, "invalid");
    expectRefusal(await put({ failed_lookups: false }), 422, "invalid");
  });
});

describe("blocks", () => {
  const block = (body: Loose, key = server.adminKey) => server.call("POST", "/blocks", { key, body });
  const endsAt = (ms: number) => new Date(server.clock.now() + ms).toISOString();

  it("[ALARMS-BLOCK] an admin blocks and unblocks an address; of IPv6 its whole network", async () => {
    const made = await created(server, "forms");
    const reply = await block({ address: "2001:db8::1", endsAt: endsAt(HOUR), reason: "scans" });
    expect([reply.status, reply.body.block.address]).toEqual([201, "2001:db8:0:0::/64"]);
    expect((await resume(made.resumeToken, "2001:db8::2")).body.error).toMatchObject({ reason: "address_blocked" });
    const remove = () => server.call("DELETE", `/blocks/${reply.body.block.blockId}`, { key: server.adminKey });
    expect((await remove()).body).toMatchObject({ removed: true });
    expectRefusal(await remove(), 404, "not_found");
    expect((await resume(made.resumeToken, "2001:db8::2")).status).toBe(200);
  });

  it("[ALARMS-BLOCK] another tenant's block covers only its own submissions", async () => {
    const boss = await server.makeKey({ roles: ["admin"], actor: { kind: "human", id: "b" }, tenant: "globex" });
    await server.putIntake({ id: "globex-forms" }, boss);
    const [ours, theirs] = [await created(server, "forms"), await created(server, "globex-forms")];
    const host = newHost();
    await block({ address: host, endsAt: endsAt(HOUR) }, boss);
    expect((await resume(ours.resumeToken, host)).status).toBe(200);
    expect((await resume(theirs.resumeToken, host)).status).toBe(403);
    expect((await create(server, "globex-forms", from(host))).status).toBe(403);
    expect((await server.call("GET", "/blocks", { key: server.adminKey })).body.items).toEqual([]);
  });

  it("[ALARMS-BLOCK] a block needs an address and an end that is near enough", async () => {
    for (const body of [
      { address: "nowhere", endsAt: endsAt(HOUR) },
      { address: "10.0.0.1", endsAt: endsAt(-1) },
      { address: "10.0.0.1", endsAt: endsAt(400 * DAY) },
      { address: "10.0.0.1" },
    ])
      expectRefusal(await block(body), 400, "bad_request");
  });
});
