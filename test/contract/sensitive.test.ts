import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailbox, handOff, visit } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { drain, JOBS_BY_HAND } from "../support/reviews.ts";
import { create, expectError, filled, HUMAN, history, record, setFields, submit } from "../support/submissions.ts";

let server: TestServer;
let agent: string;
const mailbox = createMailbox();
const SECRET = "078-05-1120";
const masked = { masked: true };

const schema = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: { type: "string" },
    ssn: { type: "string", "x-sensitive": true, maxLength: 11 },
    people: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, ssn: { type: "string", "x-sensitive": true } } },
    },
    scan: { "x-file": { accept: ["text/plain"], maxBytes: 1000 }, "x-sensitive": true },
  },
};

beforeAll(async () => {
  server = await startTestServer({ env: JOBS_BY_HAND, mailer: mailbox });
  agent = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "filler" } });
  const reviewers = { roles: ["reviewer"], emails: ["rita@example.com"] };
  await server.putIntake({ id: "secrets", schema, approvalGates: [{ name: "check", reviewers }] });
  await server.putIntake({ id: "open-secrets", schema, sensitive: { visibleToAgents: true } });
});
afterAll(() => server.stop());

/** Created by an agent, then a human typed the secret into a session. */
async function typed(intake = "secrets"): Promise<Loose> {
  const made = await create(server, intake, { key: agent, fields: { name: "Ada" } });
  const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
  const set = await human.fill({ ssn: SECRET }, 1);
  expect(set.body.fields.ssn).toBe(SECRET);
  const { resumeToken } = await record(server, made.submissionId);
  return { submissionId: made.submissionId, resumeToken, human };
}

describe("who sees what is sensitive", () => {
  it("[AUDIT-F19] [FIELDS-MASKED] an agent's key and a bare token get it masked in every response", async () => {
    const { submissionId, resumeToken } = await typed();
    for (const options of [{}, { key: agent }]) {
      const read = await server.call("GET", `/resume/${resumeToken}`, options);
      expect(read.body.fields).toEqual({ name: "Ada", ssn: masked });
    }
    const byId = await server.call("GET", `/submissions/${submissionId}`, { key: agent });
    expect(byId.body.fields.ssn).toEqual(masked);
    const set = await filled(server, resumeToken, { name: "Grace" }, { key: agent });
    expect(set.fields).toEqual({ name: "Grace", ssn: masked });
    const stale = await setFields(server, resumeToken, { name: "x" });
    expect(expectError(stale, 409, "token_conflict").current.fields.ssn).toEqual(masked);
    const list = await server.call("GET", "/submissions?intakeId=secrets&fields=true", { key: server.adminKey });
    expect(JSON.stringify(list.body)).not.toContain(SECRET);
    const sent = await submit(server, set.resumeToken);
    expect(sent.body.fields.ssn).toEqual(masked);
    expect(JSON.stringify(await history(server, submissionId))).not.toContain(SECRET);
  });

  it("[AUDIT-F19] [FIELDS-MASKED] also what the agent itself sends, and what is wrong with it", async () => {
    const made = await create(server, "secrets", { fields: { name: "Ada", ssn: SECRET } });
    expect(made.fields.ssn).toEqual(masked);
    const set = await filled(server, made.resumeToken, { ssn: "far too long a secret" });
    expect(JSON.stringify(set)).not.toContain("far too long a secret");
    expect(set.validationErrors).toMatchObject([{ path: "ssn", code: "too_long" }]);
  });

  it("[AUDIT-F19] [FIELDS-MASKED] a session's human, reviewers, admins and a human's key get it in clear", async () => {
    const { submissionId, resumeToken, human } = await typed();
    expect((await human.call("GET", "")).body.fields.ssn).toBe(SECRET);
    expect((await record(server, submissionId)).fields.ssn).toBe(SECRET);
    const robot = await server.makeKey({ roles: ["admin"], actor: { kind: "agent", id: "robot-admin" } });
    expect((await server.call("GET", `/submissions/${submissionId}`, { key: robot })).body.fields.ssn).toBe(SECRET);
    const reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rosa" } });
    expect((await server.call("GET", `/submissions/${submissionId}`, { key: reviewer })).body.fields.ssn).toBe(SECRET);
    await submit(server, resumeToken);
    await drain(server);
    const shown = await server.call("GET", `/reviews/${mailbox.reviewLink("rita@example.com")}`);
    expect(shown.body.fields.ssn).toBe(SECRET);
  });

  it("[AUDIT-F19] [FIELDS-MASKED] the session of an agent is an agent's", async () => {
    const { submissionId, resumeToken } = await typed();
    const bot = { kind: "agent", id: "second-bot" };
    const guest = await visit(server, await handOff(server, resumeToken, { allowedActors: [bot] }), bot);
    expect((await guest.call("GET", "")).body.fields.ssn).toEqual(masked);
    expect((await record(server, submissionId)).fields.ssn).toBe(SECRET);
  });

  it("[AUDIT-F19] [FIELDS-MASKED] an intake can disable masking", async () => {
    const { resumeToken } = await typed("open-secrets");
    for (const options of [{}, { key: agent }]) {
      expect((await server.call("GET", `/resume/${resumeToken}`, options)).body.fields.ssn).toBe(SECRET);
    }
  });

  it("[AUDIT-F19] [FIELDS-MASKED] a recorded response is masked for the caller who replays it", async () => {
    const made = await create(server, "secrets", { key: agent, fields: { name: "Ada" } });
    const human = await visit(server, await handOff(server, made.resumeToken), HUMAN);
    const call = (version: number) => ({
      body: { fields: { ssn: SECRET }, version },
      headers: { "idempotency-key": "typed-once" },
    });
    expect((await human.call("PATCH", "/fields", call(1))).body.fields.ssn).toBe(SECRET);
    const again = await human.call("PATCH", "/fields", call(1));
    expect(again.body).toMatchObject({ _idempotent: true, fields: { ssn: SECRET } });
    const { resumeToken } = await record(server, made.submissionId);
    const replay = await setFields(
      server,
      resumeToken,
      { ssn: SECRET },
      { headers: { "idempotency-key": "typed-once" } },
    );
    expect(replay.status).toBe(200);
    expect(replay.body).toMatchObject({ _idempotent: true, fields: { ssn: masked } });
  });
});

describe("a mask that is sent back", () => {
  it("[AUDIT-F19] [FIELDS-MASKED] changes nothing, and the human stays its author", async () => {
    const { submissionId, resumeToken } = await typed();
    const { fields } = (await server.call("GET", `/resume/${resumeToken}`)).body;
    const set = await filled(server, resumeToken, { ...fields, name: "Grace" }, { key: agent });
    expect(set.updatedFields).toEqual(["name"]);
    const after = await record(server, submissionId);
    expect(after.fields).toEqual({ name: "Grace", ssn: SECRET });
    expect(after.attribution.ssn.actor).toMatchObject(HUMAN);
  });

  it("[AUDIT-F19] [FIELDS-MASKED] in a list it represents the item that it was shown in, or is refused", async () => {
    const people = [
      { name: "A", ssn: "1" },
      { name: "B", ssn: "2" },
    ];
    const made = await create(server, "secrets", { key: agent, fields: { name: "Ada", people } });
    const [first, second] = made.fields.people;
    const set = await filled(server, made.resumeToken, { people: [second, first, { name: "C" }] });
    expect((await record(server, made.submissionId)).fields.people).toEqual([people[1], people[0], { name: "C" }]);
    const unclear = await setFields(server, set.resumeToken, { people: [{ name: "X", ssn: masked }] });
    expect(expectError(unclear, 422, "invalid").fields[0].path).toBe("people.0.ssn");
    const byPath = await filled(server, set.resumeToken, { "people.0.name": "X" });
    expect(byPath.fields.people[0]).toEqual({ name: "X", ssn: masked });
  });
});
