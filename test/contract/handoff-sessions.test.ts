import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOff, openSession, visit, visitor } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  expectNoToken,
  filled,
  history,
  record,
  setFields,
  submit,
  unchangedBy,
} from "../support/submissions.ts";

const JANE = { kind: "human", id: "jane" };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({
    id: "forms",
    schema: {
      type: "object",
      properties: {
        name: { type: "string" },
        note: { type: "string" },
        ssn: { type: "string", "x-sensitive": true },
        consent: { type: "boolean", "x-fill": "human" },
      },
      required: ["name", "consent"],
    },
  });
});
afterAll(() => server.stop());

const make = (fields: Loose = {}): Promise<Loose> => create(server, "forms", { fields });

it("[HANDOFF-RESUMED] [HANDOFF-SURVIVES] [HANDOFF-HUMAN] an agent begins, a human continues, the agent submits", async () => {
  const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "onboarder" } });
  const made = await create(server, "forms", { key, fields: { name: "Acme", ssn: "123" } });
  const { submissionId, resumeToken } = made;
  const refused = await server.call("PATCH", `/resume/${resumeToken}`, { key, body: { fields: { consent: true } } });
  expectError(refused, 422, "invalid");
  const handoff = await handOff(server, resumeToken, { allowedActors: [JANE], message: "Please agree." });
  const opened = await openSession(server, handoff, { carrier: "header" });
  expect(opened.body).toMatchObject({ submissionId, version: 1, actor: JANE, message: "Please agree." });
  const human = visitor(server, submissionId, opened.body.session);
  const seen = await human.call("GET", "");
  expect(seen.body).toMatchObject({ fields: { name: "Acme", ssn: "123" }, missingFields: ["consent"] });
  const wrote = await human.fill({ consent: true }, 1);
  expect([wrote.status, wrote.body.version]).toEqual([200, 2]);
  expect((await human.fill({ note: "and this" }, 2)).body.version).toBe(3);
  const stale = await setFields(server, resumeToken, { note: "mine" }, { key });
  const { conflictDetails } = expectError(stale, 409, "token_conflict");
  expect(conflictDetails.fields).toEqual(["note"]);
  const current = await server.call("GET", `/submissions/${submissionId}`, { key });
  expect(current.body.fields).toMatchObject({ consent: true, note: "and this" });
  expect(current.body.attribution.consent.actor).toEqual({ ...JANE, proof: "link" });
  const sent = await submit(server, current.body.resumeToken, { key, body: { actor: undefined } });
  expect(sent.body.state).toBe("finalized");
  const types = (await history(server, submissionId)).map((event) => event.type);
  expect(types).toEqual([
    "submission.created",
    "field.updated",
    "handoff.link_issued",
    "field.updated",
    "field.updated",
    "handoff.resumed",
    "submission.submitted",
    "submission.finalized",
  ]);
  const tokens = await server.call("GET", `/submissions/${submissionId}/events?types=token.handed_off`, { key });
  expect(tokens.body.events).toHaveLength(2);
});

describe("what a session may do", () => {
  it("[HANDOFF-ENOUGH] [HANDOFF-NO-TOKEN] everything that accepts a token, and no response contains one", async () => {
    const { resumeToken } = await make({ name: "Ada" });
    const human = await visit(server, await handOff(server, resumeToken));
    const key = { "idempotency-key": "session-submit" };
    const replies: Reply[] = [
      await human.call("GET", ""),
      await human.call("GET", "/events?stream=all"),
      await human.call("GET", "/events", { headers: { accept: "application/x-ndjson" } }),
      await human.fill({ consent: true, ssn: "1" }, 1),
      await human.fill({ note: "late" }, 1),
      await human.call("POST", "/validate", { headers: { "if-match": '"2"' }, body: {} }),
      await human.call("POST", "/uploads", {
        body: { version: 2, field: "name", filename: "a", mimeType: "text/plain", sizeBytes: 1 },
      }),
      await human.call("PATCH", "", { headers: { "x-intake-version": "2" }, body: { fields: { note: "x" } } }),
      await human.call("POST", "/submit", { headers: { ...key, "if-match": '"3"' }, body: {} }),
      await human.call("POST", "/submit", { headers: { ...key, "if-match": '"3"' }, body: {} }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 409, 200, 422, 200, 200, 200]);
    for (const reply of replies) {
      expectNoToken(reply);
      expect(reply.headers).not.toHaveProperty("x-resume-token");
    }
    expect(replies[0]?.headers.etag).toBe('"1"');
    expect(replies[3]?.headers.etag).toBe('"2"');
    expect(replies[9]?.headers["idempotent-replayed"]).toBe("true");
    const other = await make();
    const canceller = await visit(server, await handOff(server, other.resumeToken));
    expect((await canceller.call("DELETE", "", { body: { version: 1, reason: "no" } })).body.state).toBe("cancelled");
    const modified = await visit(server, await handOff(server, (await make()).resumeToken));
    expect((await modified.call("GET", "", { headers: { "if-none-match": '"1"' } })).status).toBe(200);
  });

  it("[HANDOFF-VERSION] a write names the version it is based on: 428 without, 409 with what changed when stale", async () => {
    const { submissionId, resumeToken } = await make({ name: "Ada", ssn: "12" });
    const human = await visit(server, await handOff(server, resumeToken));
    for (const [method, suffix, body] of [
      ["PATCH", "/fields", { fields: { note: "x" } }],
      ["POST", "/validate", {}],
      ["POST", "/submit", { idempotencyKey: "k" }],
      ["DELETE", "", {}],
    ] as const) {
      const reply = await unchangedBy(server, submissionId, () => human.call(method, suffix, { body }));
      expectError(reply, 428, "token_required");
    }
    await filled(server, resumeToken, { note: "theirs" });
    const stale = await human.fill({ note: "mine" }, 1);
    const error = expectError(stale, 409, "token_conflict");
    expect(error).toMatchObject({
      yourVersion: 1,
      conflictDetails: { fields: ["note"], canAutoMerge: false },
      current: { version: 2, fields: { note: "theirs", ssn: { masked: true } } },
    });
    expectNoToken(stale);
    expect(stale.headers.etag).toBe('"2"');
    const both = await human.call("PATCH", "/fields", {
      headers: { "if-match": resumeToken },
      body: { fields: {} },
    });
    expectError(both, 400, "bad_request");
  });

  it("[HANDOFF-ONE-WINS] two humans on one version: one writes, the other is shown what changed", async () => {
    const { resumeToken } = await make();
    const humans = await Promise.all(
      ["ann", "bob"].map(async (id) => visit(server, await handOff(server, resumeToken), { kind: "human", id })),
    );
    const replies = await Promise.all(humans.map((human, index) => human.fill({ note: `${index}` }, 1)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const lost = replies.find(({ status }) => status === 409);
    expect(lost?.body.error.conflictDetails.fields).toEqual(["note"]);
  });

  it("[HANDOFF-REPLAY] a session gets its own recorded responses again, and nobody else's", async () => {
    const { resumeToken } = await make();
    const human = await visit(server, await handOff(server, resumeToken));
    const body = { fields: { note: "same" }, idempotencyKey: "shared-by-both" };
    const first = await server.call("PATCH", `/resume/${resumeToken}`, { body: { actor: AGENT, ...body } });
    expect(first.status).toBe(200);
    const reply = await human.call("PATCH", "/fields", { body: { ...body, version: 2 } });
    expectError(reply, 409, "conflict");
    expectNoToken(reply);
    const own = { fields: { note: "own" }, idempotencyKey: "only-mine", version: 2 };
    const wrote = await human.call("PATCH", "/fields", { body: own });
    const again = await human.call("PATCH", "/fields", { body: own });
    expect([wrote.status, again.status, again.body._idempotent]).toEqual([200, 200, true]);
    expect(again.body.version).toBe(wrote.body.version);
  });
});

describe("who a session is", () => {
  it("[HANDOFF-ACTORS] [HANDOFF-HUMAN] any human without a list, who names themselves, and one of the list with it, identified", async () => {
    const { submissionId, resumeToken } = await make();
    const open = await handOff(server, resumeToken);
    expectError(await openSession(server, open, { actor: AGENT }), 403, "forbidden");
    const nameless = await openSession(server, open, { carrier: "header" });
    expect(nameless.body.actor).toEqual({ kind: "human", id: open.handoffId, proof: "link" });
    const bob = await visit(server, open, { kind: "human", id: "bob", name: "Bob" });
    expect((await bob.fill({ consent: true }, 1)).body.fields).toEqual({ consent: true });
    const { attribution } = await record(server, submissionId);
    expect(attribution.consent.actor).toEqual({ kind: "human", id: "bob", name: "Bob", declared: true, proof: "link" });
    const other = await bob.call("PATCH", "/fields", { body: { actor: JANE, version: 2, fields: { note: "x" } } });
    expectError(other, 403, "forbidden");
    const named = { actor: { type: "human", id: "bob" }, version: 2, fields: { note: "x" } };
    expect((await bob.call("PATCH", "/fields", { body: named })).status).toBe(200);
    const { resumeToken: token } = await record(server, submissionId);
    const few = await handOff(server, token, { allowedActors: [JANE, { kind: "agent", id: "helper" }] });
    const { fields } = expectError(await openSession(server, few), 400, "bad_request");
    expect(fields).toMatchObject([{ path: "actor", expected: [JANE, { kind: "agent", id: "helper" }] }]);
    expectError(await openSession(server, few, { actor: { kind: "human", id: "eve" } }), 403, "forbidden");
    expectError(await openSession(server, few, { actor: { kind: "agent", id: "jane" } }), 403, "forbidden");
    const helper = await visit(server, few, { kind: "agent", id: "helper" });
    expectError(await helper.fill({ consent: false }, 3), 422, "invalid");
    expect((await helper.fill({ note: "by an agent" }, 3)).status).toBe(200);
    await server.call("DELETE", `/submissions/${submissionId}/handoffs/${few.handoffId}`, {
      key: server.adminKey,
      body: {},
    });
    expectError(await openSession(server, few), 410, "token_expired");
  });

  it("[HANDOFF-FOREIGN] the session of another submission or tenant looks like an unknown one", async () => {
    const [mine, theirs] = [await make(), await make()];
    const human = await visit(server, await handOff(server, theirs.resumeToken));
    const foreignAdmin = await server.makeKey({ roles: ["admin"], actor: JANE as never, tenant: "elsewhere" });
    await server.putIntake({ id: "abroad" }, foreignAdmin);
    const abroad = await create(server, "abroad");
    const visitorAbroad = await visit(server, await handOff(server, abroad.resumeToken));
    const unknown = `sess_${"0".repeat(43)}`;
    const shown = ({ status, body }: Reply): unknown => ({ status, body });
    for (const [method, suffix, body] of [
      ["GET", ""],
      ["GET", "/events"],
      ["PATCH", "/fields", { fields: {}, version: 1 }],
      ["POST", "/submit", { idempotencyKey: "k", version: 1 }],
      ["DELETE", "", { version: 1 }],
    ] as const) {
      const call = (key: string) =>
        server.call(method, `/submissions/${mine.submissionId}${suffix}`, { key, ...(body && { body }) });
      const wanted = shown(await call(unknown));
      expect(wanted).toMatchObject({ status: 404, body: { error: { type: "token_invalid" } } });
      for (const { session } of [human, visitorAbroad]) expect(shown(await call(session))).toEqual(wanted);
    }
    const link = await handOff(server, theirs.resumeToken);
    const elsewhere = await openSession(server, { ...link, submissionId: mine.submissionId });
    const nowhere = await openSession(server, { ...link, submissionId: "sub_01977d3e-8c00-7000-8000-00000000dead" });
    const never = await openSession(server, link, { session: unknown });
    expect([shown(elsewhere), shown(nowhere)]).toEqual([shown(never), shown(never)]);
    expectError(never, 404, "token_invalid");
    expectError(await openSession(server, link, { session: human.session }), 404, "token_invalid");
    expectError(await server.call("GET", `/submissions/${mine.submissionId}`, { key: "sess_x" }), 400, "token_invalid");
    expectError(await server.call("GET", "/submissions", { key: human.session }), 401, "unauthorized");
    const review = await human.call("POST", "/review", { body: { decision: "approved" } });
    expectError(review, 401, "unauthorized");
  });
});
