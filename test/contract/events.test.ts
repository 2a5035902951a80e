import { createHash } from "node:crypto";
import { StoreDown } from "@formbridge/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  created,
  eventsOf,
  HUMAN,
  idempotencyKey,
  setFields,
  submit,
  typesOf,
} from "../support/moves.ts";

const DAY = 86_400_000;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  await server.putIntake({
    id: "private",
    schema: { type: "object", properties: { name: {}, ssn: { type: "string", maxLength: 20, "x-sensitive": true } } },
  });
});
afterAll(() => server.stop());

/** A submission with something in every stream. */
async function busy(): Promise<{ id: string; tokens: string[]; keys: string[] }> {
  const keys = [idempotencyKey(`busy-${Math.random()}`), `busy-set-${Math.random()}`, `busy-submit-${Math.random()}`];
  const made = await created(server, "forms", { body: { idempotencyKey: keys[0] } });
  const set = await setFields(server, made.resumeToken, { name: "Ada" }, { body: { idempotencyKey: keys[1] } });
  await setFields(server, made.resumeToken, { name: "Ada" }, { body: { idempotencyKey: keys[1] } });
  const human = await setFields(server, set.body.resumeToken, { note: "hi" }, { body: { actor: HUMAN } });
  const sent = await submit(server, human.body.resumeToken, keys[2] ?? "");
  const tokens = [made, set.body, human.body, sent.body].map(({ resumeToken }) => resumeToken as string);
  return { id: made.submissionId, tokens, keys };
}

describe("what is shown", () => {
  it("[EVENTS-DEFAULT-STREAM] the submission stream alone, unless asked for others", async () => {
    const { id } = await busy();
    const events = await eventsOf(server, id, "");
    expect(new Set(events.map(({ stream }) => stream))).toEqual(new Set(["submission"]));
    expect(typesOf(events)).toEqual([
      "submission.created",
      "field.updated",
      "submission.replayed",
      "field.updated",
      "handoff.resumed",
      "submission.submitted",
      "submission.finalized",
    ]);
  });

  it("[EVENTS-STREAM] each stream on its own, and all of them together", async () => {
    const { id } = await busy();
    const all = await eventsOf(server, id, "stream=all");
    let apart = 0;
    for (const stream of ["submission", "token", "idempotency"]) {
      const events = await eventsOf(server, id, `stream=${stream}`);
      expect(events.length).toBeGreaterThan(0);
      expect(events.every((event) => event.stream === stream)).toBe(true);
      apart += events.length;
    }
    expect(all).toHaveLength(apart);
  });

  it("[EVENTS-TYPES] a comma-separated list of types, of any stream", async () => {
    const { id } = await busy();
    const events = await eventsOf(server, id, "types=field.updated,token.created,idempotency.key.created");
    expect(new Set(typesOf(events))).toEqual(new Set(["field.updated", "token.created", "idempotency.key.created"]));
    expect(typesOf(await eventsOf(server, id, "types=submission.finalized"))).toEqual(["submission.finalized"]);
  });

  it("[EVENTS-SHAPE] an event says what happened, when, by whom, and the state of the submission", async () => {
    const made = await created(server, "forms");
    const set = await setFields(
      server,
      made.resumeToken,
      { name: "Ada" },
      { body: { actor: { ...HUMAN, name: "Ada L." } } },
    );
    const [, updated] = await eventsOf(server, made.submissionId, "");
    expect(updated).toEqual({
      eventId: expect.stringMatching(/^evt_/),
      seq: 2,
      stream: "submission",
      type: "field.updated",
      submissionId: made.submissionId,
      ts: new Date(server.clock.now()).toISOString(),
      actor: { ...HUMAN, name: "Ada L.", declared: true },
      state: "in_progress",
      version: set.body.version,
      payload: expect.objectContaining({ fields: { name: "Ada" } }),
      prevHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it("[EVENTS-ONLY-HASHES] no token and no key in any stream", async () => {
    const { id, tokens, keys } = await busy();
    const text = JSON.stringify(await eventsOf(server, id, "stream=all&proof=true"));
    for (const secret of [...tokens, ...keys]) expect(text).not.toContain(secret);
    expect(text).not.toContain("rtok_");
    for (const secret of [...tokens, ...keys])
      expect(text).toContain(createHash("sha256").update(secret).digest("hex"));
  });

  it("[EVENTS-MASKED] no event contains a sensitive value, even if it fails validation", async () => {
    const made = await created(server, "private", { body: { initialFields: { ssn: "123-45-6789" } } });
    const set = await setFields(server, made.resumeToken, { ssn: "987-65-4321-987-65-4321-987-65-4321" });
    await server.call("POST", `/resume/${set.body.resumeToken}/validate`, { body: {} });
    const text = JSON.stringify(await eventsOf(server, made.submissionId, "stream=all&proof=true"));
    expect(text).toContain("ssn");
    expect(text).not.toMatch(/123-45|987-65/);
  });
});

describe("when an event is written", () => {
  it("[EVENTS-WITH-CHANGE] with the change that was acknowledged, and never without it", async () => {
    const { store } = server.server.core.backend;
    const { resumeToken, submissionId } = await created(server, "forms");
    const length = async () => (await eventsOf(server, submissionId)).length;
    const before = await length();
    const { commit } = store;
    store.commit = async () => {
      throw new StoreDown("gone", "not_applied");
    };
    expect((await setFields(server, resumeToken, { name: "Ada" })).status).toBe(503);
    store.commit = commit;
    expect((await setFields(server, resumeToken, { "a.__proto__": 1 })).status).toBe(400);
    expect(await length()).toBe(before);
    expect((await setFields(server, resumeToken, { name: "Ada" })).status).toBe(200);
    expect(typesOf((await eventsOf(server, submissionId)).slice(before))).toContain("field.updated");
  });

  it("[EVENTS-APPEND-ONLY] there is no call that changes an event", async () => {
    const { id } = await busy();
    const before = await eventsOf(server, id);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      for (const path of [`/submissions/${id}/events`, "/events"]) {
        const reply = await server.call(method, path, { key: server.adminKey, body: {} });
        expect([reply.status, reply.body.error.type]).toEqual([405, "method_not_allowed"]);
      }
    }
    await server.call("POST", `/submissions/${id}/tokens/reissue`, { key: server.adminKey, body: {} });
    expect((await eventsOf(server, id)).slice(0, before.length)).toEqual(before);
  });

  it("[EVENTS-HANDOFF-RESUMED] [EVENTS-HANDED-OFF] a change of hands is recorded, both ways", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    const byHuman = await setFields(server, resumeToken, { name: "Ada" }, { body: { actor: HUMAN } });
    const handed = "types=handoff.resumed,token.handed_off";
    expect(typesOf(await eventsOf(server, submissionId, handed))).toEqual(["token.handed_off"]);
    const byHumanAgain = await setFields(server, byHuman.body.resumeToken, { note: "x" }, { body: { actor: HUMAN } });
    expect(typesOf(await eventsOf(server, submissionId, handed))).toEqual(["token.handed_off"]);
    const byAgent = await setFields(server, byHumanAgain.body.resumeToken, { note: "y" });
    await setFields(server, byAgent.body.resumeToken, { note: "z" });
    const told = await eventsOf(server, submissionId, handed);
    expect(typesOf(told).sort()).toEqual(["handoff.resumed", "token.handed_off", "token.handed_off"]);
    expect(told.find(({ type }) => type === "handoff.resumed").actor).toMatchObject(AGENT);
  });

  it("[EVENTS-TOKEN-STREAM] rotations, refusals and ends of tokens are recorded", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    const set = await setFields(server, resumeToken, { name: "Ada" });
    await setFields(server, resumeToken, { name: "Grace" });
    await submit(server, set.body.resumeToken, "token-stream");
    await server.server.core.operations.flushAudit();
    const types = typesOf(await eventsOf(server, submissionId, "stream=token"));
    expect(types.slice(0, 2)).toEqual(["token.created", "token.updated"]);
    for (const type of ["token.conflict", "token.submitted", "token.expired"]) expect(types).toContain(type);
  });

  it("[EVENTS-READ-AUDIT] a read with a token is recorded after a while", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    await server.call("GET", `/resume/${resumeToken}`);
    await server.server.core.operations.flushAudit();
    const [accessed] = await eventsOf(server, submissionId, "types=token.accessed");
    expect(accessed).toMatchObject({
      stream: "token",
      payload: expect.objectContaining({ operation: "getSubmission" }),
    });
  });

  it("[EVENTS-IDEMPOTENCY-STREAM] keys that were recorded, replayed and refused are recorded", async () => {
    const body = { idempotencyKey: idempotencyKey("told") };
    const { resumeToken, submissionId } = await created(server, "forms", { body });
    await create(server, "forms", { body });
    const move = { body: { idempotencyKey: "told" } };
    const set = await setFields(server, resumeToken, { name: "Ada" }, move);
    await setFields(server, set.body.resumeToken, { name: "Grace" }, move);
    await server.server.core.operations.flushAudit();
    expect(typesOf(await eventsOf(server, submissionId, "stream=idempotency"))).toEqual([
      "idempotency.key.created",
      "idempotency.replay",
      "idempotency.key.created",
      "idempotency.conflict",
    ]);
  });
});

describe("pages and time", () => {
  it("[EVENTS-PAGING] pages are complete, in order, and each event comes once", async () => {
    const { id } = await busy();
    const all = await eventsOf(server, id);
    const walked: Loose[] = [];
    let after = "";
    for (;;) {
      const { body } = await server.call("GET", `/submissions/${id}/events?stream=all&limit=3${after}`, {
        key: server.adminKey,
      });
      walked.push(...body.events);
      expect(body.events.length).toBeLessThanOrEqual(3);
      if (!body.hasMore) break;
      after = `&afterEventId=${body.events.at(-1).eventId}`;
    }
    expect(walked).toEqual(all);
  });

  it("[EVENTS-LIMIT-DEFAULT] 100 events a page by default, up to 1,000 on request", async () => {
    const { resumeToken, submissionId } = await created(server, "forms");
    for (let round = 0; round < 105; round++)
      await server.call("POST", `/resume/${resumeToken}/validate`, { body: {} });
    expect(await eventsOf(server, submissionId, "")).toHaveLength(100);
    expect(await eventsOf(server, submissionId, "limit=1000")).toHaveLength(106);
  });

  it("[EVENTS-AFTER-UNKNOWN] can't continue after an event of another submission", async () => {
    const [mine, theirs] = [await created(server, "forms"), await created(server, "forms")];
    const [foreign] = await eventsOf(server, theirs.submissionId);
    for (const after of [foreign.eventId, "evt_none", "__proto__"]) {
      for (const accept of ["application/json", "application/x-ndjson", "text/event-stream"]) {
        const reply = await server.call("GET", `/resume/${mine.resumeToken}/events?afterEventId=${after}`, {
          headers: { accept },
        });
        expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
      }
    }
  });

  it("[EVENTS-KEPT] after 90 days and any number of sweeps the history is whole", async () => {
    const { id } = await busy();
    const before = await eventsOf(server, id);
    server.clock.advance(90 * DAY);
    for (let round = 0; round < 3; round++) await server.server.core.operations.sweep();
    const after = await eventsOf(server, id);
    expect(after.slice(0, before.length)).toEqual(before);
    // The sweeps removed the recorded responses, and wrote events about it.
    const forgotten = new Set(typesOf(after.slice(before.length)));
    expect(forgotten).toEqual(new Set(["idempotency.key.expired"]));
  });
});
