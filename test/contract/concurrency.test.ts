import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import {
  AGENT,
  create,
  expectError,
  filled,
  history,
  record,
  setFields,
  submitted,
  unchangedBy,
} from "../support/submissions.ts";

let server: TestServer;
let creator: string;
let reviewer: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "gated", approvalGates: [{ name: "check", reviewers: { roles: ["reviewer"] } }] });
  creator = await server.makeKey({ roles: ["agent"], actor: AGENT });
  reviewer = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rita" } });
});
afterAll(() => server.stop());

interface Named {
  headers?: Record<string, string>;
  body?: object;
  key?: string;
}

/** A write by id that names its version in headers or body. */
const write = (submissionId: string, { headers = {}, body = {}, key }: Named = {}): Promise<Reply> =>
  server.call("PATCH", `/submissions/${submissionId}/fields`, {
    headers,
    ...(key !== undefined && { key }),
    body: { fields: { note: "x" }, ...(key === undefined && { actor: AGENT }), ...body },
  });

describe("writes at once", () => {
  it("[CONCURRENCY-ONE-WINS] of many writes on one version exactly one is made", async () => {
    const made = await create(server, "open");
    const replies = await Promise.all(
      Array.from({ length: 25 }, (_, n) => setFields(server, made.resumeToken, { name: `writer ${n}` })),
    );
    const won = replies.filter((reply) => reply.status === 200);
    expect(won).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 409)).toHaveLength(24);
    const winner = won[0]?.body;
    expect(await record(server, made.submissionId)).toMatchObject({ version: 2, fields: winner.fields });
    for (const { status, body } of replies) {
      if (status === 409) expect([body.error.type, body.resumeToken]).toEqual(["token_conflict", winner.resumeToken]);
    }
    expect(await history(server, made.submissionId)).toHaveLength(2);
  });

  it("[CONCURRENCY-ONE-WINS] writers that merge and retry all succeed, and lose nothing", async () => {
    const made = await create(server, "open");
    const addOne = async (name: string): Promise<void> => {
      let token: string = made.resumeToken;
      for (let tries = 0; tries < 50; tries++) {
        const reply = await setFields(server, token, { [name]: name });
        if (reply.status === 200) return;
        expectError(reply, 409, "token_conflict");
        token = reply.body.resumeToken;
      }
      throw new Error("never got through");
    };
    const names = Array.from({ length: 10 }, (_, n) => `field${n}`);
    await Promise.all(names.map(addOne));
    const { version, fields } = await record(server, made.submissionId);
    expect(version).toBe(11);
    expect(Object.keys(fields).sort()).toEqual(names);
  });

  it("[CONCURRENCY-NOTHING-LOST] validations beside a write are all recorded, in one unbroken history", async () => {
    const made = await create(server, "open", { fields: { note: "x" } });
    const replies = await Promise.all([
      ...Array.from({ length: 6 }, () => server.call("POST", `/resume/${made.resumeToken}/validate`)),
      setFields(server, made.resumeToken, { name: "Ada" }),
      ...Array.from({ length: 6 }, () => server.call("POST", `/resume/${made.resumeToken}/validate`)),
    ]);
    expect(replies[6]?.status).toBe(200);
    const checks = replies.filter((reply, index) => index !== 6 && reply.status === 200).length;
    const events = await history(server, made.submissionId);
    expect(events.filter((event) => event.type === "validation.failed")).toHaveLength(checks);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    expect((await record(server, made.submissionId)).fields).toEqual({ note: "x", name: "Ada" });
  });
});

describe("headers", () => {
  it("[CONCURRENCY-HEADERS] responses have token, versions and last change, and may not be cached", async () => {
    server.clock.advance(61_000);
    const lastModified = new Date(server.clock.now()).toUTCString();
    const created = await server.call("POST", "/intakes/open/submissions", { body: { actor: AGENT } });
    const set = await setFields(server, created.body.resumeToken, { name: "Ada" });
    const read = await server.call("GET", `/resume/${set.body.resumeToken}`);
    const checked = await server.call("POST", `/resume/${set.body.resumeToken}/validate`);
    for (const { body, headers } of [created, set, read, checked]) {
      expect(headers).toMatchObject({
        etag: `"${body.resumeToken}"`,
        "x-resume-token": body.resumeToken,
        "x-intake-version": String(body.version),
        "x-submission-version": String(body.version),
        "last-modified": lastModified,
        "cache-control": "no-store",
      });
    }
    const refused = await setFields(server, created.body.resumeToken, { name: "x" });
    expect(refused.headers).toMatchObject({
      etag: `"${set.body.resumeToken}"`,
      "x-intake-version": "2",
      "cache-control": "no-store",
    });
  });
});

describe("If-Match", () => {
  const spellings: [string, (token: string) => string][] = [
    ["a bare token", (token) => token],
    ["a quoted token", (token) => `"${token}"`],
    ["version and token", (token) => `"v1-${token}"`],
  ];

  it.each(spellings)("[CONCURRENCY-IF-MATCH] accepts %s", async (_name, spell) => {
    const { submissionId, resumeToken } = await create(server, "open");
    const headers = { "if-match": spell(resumeToken) };
    expect((await write(submissionId, { headers })).body).toMatchObject({ ok: true, version: 2 });
    expectError(await unchangedBy(server, submissionId, () => write(submissionId, { headers })), 409, "token_conflict");
  });

  it("[CONCURRENCY-IF-MATCH] [CONCURRENCY-BY-KEY] accepts a quoted version, from a key that may hold the token", async () => {
    const { submissionId } = await create(server, "open", { key: creator });
    const headers = { "if-match": '"1"' };
    const reply = await write(submissionId, { headers, key: creator });
    expect(reply.body).toMatchObject({ ok: true, version: 2 });
    expect(reply.headers["x-resume-token"]).toBe(reply.body.resumeToken);
    const stale = await unchangedBy(server, submissionId, () => write(submissionId, { headers, key: server.adminKey }));
    expect(expectError(stale, 409, "token_conflict").yourVersion).toBe(1);
    expect((await write(submissionId, { body: { version: 2 }, key: server.adminKey })).body.version).toBe(3);
  });

  it("[CONCURRENCY-IF-MATCH-STAR] * counts as absent", async () => {
    const { submissionId, resumeToken } = await create(server, "open", { key: creator });
    const headers = { "if-match": "*" };
    expectError(await unchangedBy(server, submissionId, () => write(submissionId, { headers })), 428, "token_required");
    const byKey = () => write(submissionId, { headers, key: creator });
    expectError(await unchangedBy(server, submissionId, byKey), 428, "token_required");
    expect((await write(submissionId, { headers, body: { resumeToken } })).status).toBe(200);
  });

  it("[CONCURRENCY-IF-MATCH-BOTH] the right token with another version is a 409", async () => {
    const { submissionId, resumeToken } = await create(server, "open");
    const headers = { "if-match": `"v2-${resumeToken}"` };
    const reply = await unchangedBy(server, submissionId, () => write(submissionId, { headers }));
    expect(expectError(reply, 409, "token_conflict").yourVersion).toBe(2);
  });

  it("[CONCURRENCY-409] a mismatch is never a 412", async () => {
    const made = await create(server, "open");
    await filled(server, made.resumeToken, { name: "Ada" });
    for (const ifMatch of [made.resumeToken, `"${made.resumeToken}"`, `"v1-${made.resumeToken}"`]) {
      expect((await write(made.submissionId, { headers: { "if-match": ifMatch } })).status).toBe(409);
    }
  });
});

describe("what a write names", () => {
  it("[CONCURRENCY-AGREE] tokens in path, header and body must be the same", async () => {
    const one = await create(server, "open");
    const two = await create(server, "open");
    const other = { "if-match": two.resumeToken };
    const acts: (() => Promise<Reply>)[] = [
      () =>
        write(one.submissionId, { headers: { "if-match": one.resumeToken }, body: { resumeToken: two.resumeToken } }),
      () => setFields(server, one.resumeToken, { note: "x" }, { headers: other }),
      () => setFields(server, one.resumeToken, { note: "x" }, { body: { resumeToken: two.resumeToken } }),
      () => server.call("DELETE", `/resume/${one.resumeToken}`, { headers: other }),
      () => server.call("POST", `/resume/${one.resumeToken}/validate`, { headers: other }),
    ];
    for (const act of acts) {
      const reply = await unchangedBy(server, two.submissionId, () => unchangedBy(server, one.submissionId, act));
      expectError(reply, 400, "bad_request");
    }
    const { resumeToken } = one;
    const all = { headers: { "if-match": `"${resumeToken}"` }, body: { resumeToken } };
    expect((await setFields(server, resumeToken, { note: "x" }, all)).status).toBe(200);
  });

  it("[CONCURRENCY-VERSION] a version beside the token must be the current one", async () => {
    const made = await create(server, "open");
    const { resumeToken, submissionId } = await filled(server, made.resumeToken, { name: "Ada" });
    for (const named of [
      { headers: { "x-intake-version": "1" } },
      { body: { version: 1 } },
      { body: { version: 3 } },
    ]) {
      const reply = await unchangedBy(server, submissionId, () => setFields(server, resumeToken, { note: "x" }, named));
      expectError(reply, 409, "token_conflict");
      expect(reply.body.version).toBe(2);
    }
    const right = { headers: { "x-intake-version": "2" }, body: { version: 2 } };
    expect((await setFields(server, resumeToken, { note: "x" }, right)).status).toBe(200);
  });

  it("[CONCURRENCY-REQUIRED] without any token a write is a 428, whether the submission exists or not", async () => {
    const { submissionId } = await create(server, "open");
    for (const id of [submissionId, "sub_01977d3e-8c00-7000-8000-000000000001", "nothing"]) {
      const path = `/submissions/${id}`;
      const upload = { field: "w9", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 1, actor: AGENT };
      const replies = [
        await write(id),
        await server.call("PATCH", path, { body: { actor: AGENT, fields: {} } }),
        await server.call("POST", `${path}/validate`),
        await server.call("POST", `${path}/submit`, { body: { actor: AGENT, idempotencyKey: "k" } }),
        await server.call("POST", `${path}/uploads`, { body: upload }),
        await server.call("DELETE", path),
      ];
      for (const reply of replies) expectError(reply, 428, "token_required");
    }
    expect((await record(server, submissionId)).version).toBe(1);
  });

  it("[CONCURRENCY-REQUIRED] a key alone names no version, so its write is a 428 too", async () => {
    const { submissionId } = await create(server, "open", { key: creator });
    for (const key of [creator, server.adminKey]) {
      expectError(await unchangedBy(server, submissionId, () => write(submissionId, { key })), 428, "token_required");
    }
  });

  it("[CONCURRENCY-BY-KEY] review and cancel need a key and the id, nothing else", async () => {
    const { submissionId } = await submitted(server, "gated", { key: creator });
    const path = `/submissions/${submissionId}`;
    const body = { decision: "rejected", reasons: ["no"] };
    expect((await server.call("POST", `${path}/review`, { key: reviewer, body })).body.state).toBe("rejected");
    const denied = await unchangedBy(server, submissionId, () => server.call("DELETE", path, { key: reviewer }));
    expectError(denied, 403, "forbidden");
    expect((await server.call("DELETE", path, { key: creator })).body.state).toBe("cancelled");
  });

  it("[CONCURRENCY-CANCEL-TOKEN] a token cancels by its path, by If-Match and by body", async () => {
    const cancels: ((id: string, token: string) => Promise<Reply>)[] = [
      (_id, token) => server.call("DELETE", `/resume/${token}`),
      (_id, token) => server.call("DELETE", `/submissions/${token}`),
      (id, token) => server.call("DELETE", `/submissions/${id}`, { headers: { "if-match": `"${token}"` } }),
      (id, token) => server.call("DELETE", `/submissions/${id}`, { body: { resumeToken: token } }),
    ];
    for (const cancel of cancels) {
      const { submissionId, resumeToken } = await create(server, "open");
      expect((await cancel(submissionId, resumeToken)).body).toMatchObject({
        ok: true,
        state: "cancelled",
        version: 2,
      });
    }
  });

  it("[CONCURRENCY-SAME-PATHS] /submissions/{token} does what /resume/{token} does", async () => {
    const made = await create(server, "open", { fields: { name: "Ada" } });
    const [one, other] = ["resume", "submissions"].map((root) => `/${root}/${made.resumeToken}`);
    expect((await server.call("GET", `${other}`)).body).toEqual((await server.call("GET", `${one}`)).body);
    expect((await server.call("GET", `${other}/events`)).body).toEqual(
      (await server.call("GET", `${one}/events`)).body,
    );
    expect((await server.call("POST", `${other}/validate`)).body.ready).toBe(true);
    const set = await server.call("PATCH", `${other}/fields`, { body: { actor: AGENT, fields: { note: "x" } } });
    expect(set.body).toMatchObject({ ok: true, version: 2 });
    const body = { actor: AGENT, idempotencyKey: "same-paths" };
    const sent = await server.call("POST", `/submissions/${set.body.resumeToken}/submit`, { body });
    expect(sent.body.state).toBe("finalized");
  });
});
