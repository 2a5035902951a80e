import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, HUMAN, read, setFields, submit } from "../support/moves.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "open" });
  await server.putIntake({ id: "closed", access: "key" });
});
afterAll(async () => {
  await server.stop();
});

const admin = (method: string, path: string, body?: unknown) =>
  server.call(method, path, { key: server.adminKey, ...(body !== undefined && { body }) });

const grant = (over: Record<string, unknown> = {}) => ({ name: "A key", roles: ["agent"], actor: AGENT, ...over });

describe("keys", () => {
  it("[RUNNING-KEYS-SHOWN-ONCE] [RUNNING-KEYS-LIST] the key is in the response that creates it, and in no other", async () => {
    const made = await admin(
      "POST",
      "/keys",
      grant({ intakes: ["open"], actsFor: ["x"], expiresAt: "2030-01-01T00:00:00.000Z" }),
    );
    expect(made.status).toBe(201);
    expect(made.body).toEqual({ ok: true, keyId: expect.any(String), key: expect.stringMatching(/^fbk_[\w-]{43}$/) });
    const list = await admin("GET", "/keys?limit=1000");
    const listed = list.body.items.find(({ keyId }: Loose) => keyId === made.body.keyId);
    expect(listed).toEqual({
      keyId: made.body.keyId,
      tenant: "default",
      name: "A key",
      roles: ["agent"],
      actor: AGENT,
      createdAt: new Date(server.clock.now()).toISOString(),
      intakes: ["open"],
      actsFor: ["x"],
      expiresAt: "2030-01-01T00:00:00.000Z",
    });
    expect(JSON.stringify(list.body)).not.toContain(made.body.key);
  });

  it("[RUNNING-KEYS-HASHED] no key is stored", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: AGENT });
    expect((await create(server, "closed", { key })).status).toBe(201);
    const atRest = await server.atRest();
    expect(atRest).toContain("api_keys");
    expect(atRest).not.toContain(key);
    expect(atRest).not.toContain(server.adminKey);
  });

  it("[RUNNING-KEYS-REVOKE] a revoked key stops working at once, for everything", async () => {
    const { keyId, key } = (await admin("POST", "/keys", grant())).body;
    const made = await created(server, "closed", { key });
    expect((await admin("DELETE", `/keys/${keyId}`)).body).toEqual({ ok: true, keyId, revoked: true });
    for (const reply of [await create(server, "closed", { key }), await read(server, made.submissionId, key)]) {
      expect([reply.status, reply.body.error.type]).toEqual([401, "unauthorized"]);
    }
    expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(404);
    expect(JSON.stringify((await admin("GET", "/keys?limit=1000")).body)).not.toContain(keyId);
  });

  it("[RUNNING-KEYS-EXPIRE] a key works until its expiry and not a moment longer", async () => {
    const expiresAt = new Date(server.clock.now() + 60_000).toISOString();
    const { key } = (await admin("POST", "/keys", grant({ expiresAt }))).body;
    server.clock.advance(59_999);
    expect((await create(server, "closed", { key })).status).toBe(201);
    server.clock.advance(1);
    const late = await create(server, "closed", { key });
    expect([late.status, late.body.error.type]).toEqual([401, "unauthorized"]);
  });

  it("[RUNNING-KEYS-EXPIRE] a key that would already be expired is not created", async () => {
    const expiresAt = new Date(server.clock.now()).toISOString();
    const reply = await admin("POST", "/keys", grant({ expiresAt }));
    expect([reply.status, reply.body.error.type]).toEqual([400, "bad_request"]);
  });

  it("[RUNNING-KEYS-ADMIN-ONLY] other roles make, list and revoke no keys", async () => {
    const { keyId } = (await admin("POST", "/keys", grant())).body;
    for (const role of ["agent", "reviewer", "viewer"] as const) {
      const key = await server.makeKey({ roles: [role], actor: HUMAN });
      const replies = [
        await server.call("POST", "/keys", { key, body: grant() }),
        await server.call("GET", "/keys", { key }),
        await server.call("DELETE", `/keys/${keyId}`, { key }),
      ];
      for (const reply of replies) expect([reply.status, reply.body.error.type]).toEqual([403, "forbidden"]);
    }
    const nobody = await server.call("POST", "/keys", { body: grant() });
    expect(nobody.status).toBe(401);
  });

  it("[RUNNING-KEYS-INTAKES] a limited key sees nothing beyond its intakes", async () => {
    const made = await created(server, "closed", { key: server.adminKey });
    for (const role of ["agent", "viewer", "admin"] as const) {
      const key = await server.makeKey({ roles: [role], actor: { kind: "human", id: "admin" }, intakes: ["open"] });
      expect((await read(server, made.submissionId, key)).status).toBe(404);
      expect((await server.call("GET", "/intakes/closed", { key })).status).toBe(404);
      expect((await create(server, "closed", { key })).status).toBe(404);
      const lists = await Promise.all(
        ["/submissions?limit=1000", "/submissions?intakeId=closed", "/intakes?limit=1000"].map((path) =>
          server.call("GET", path, { key }),
        ),
      );
      expect(JSON.stringify(lists.map(({ body }) => body.items))).not.toContain('"closed"');
      if (role === "agent") continue;
      for (const query of ["limit=1000", "limit=1000&intakeId=closed"]) {
        const feed = await server.call("GET", `/events?${query}`, { key });
        expect(JSON.stringify(feed.body)).not.toContain(made.submissionId);
      }
    }
    const limited = await server.makeKey({
      roles: ["admin"],
      actor: { kind: "human", id: "admin" },
      intakes: ["open"],
    });
    const wider = await server.call("POST", "/keys", { key: limited, body: grant() });
    expect(wider.status).toBe(403);
  });

  it("[RUNNING-KEYS-ACTOR] the key's actor is recorded, identified and not declared", async () => {
    const key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "proved" } });
    const made = await created(server, "closed", { key });
    const set = await setFields(server, made.resumeToken, { name: "x" }, { key });
    const { createdBy, lastUpdatedBy, attribution } = (await server.call("GET", `/resume/${set.body.resumeToken}`))
      .body;
    for (const actor of [createdBy, lastUpdatedBy, attribution.name.actor])
      expect(actor).toEqual({ kind: "agent", id: "proved" });
    const same = await create(server, "closed", {
      key,
      body: { actor: { kind: "agent", id: "proved", name: "Other name" } },
    });
    expect(same.status).toBe(201);
  });

  it("[RUNNING-KEYS-ACTS-FOR] only a key that is allowed to can name another actor", async () => {
    const own = await server.makeKey({ roles: ["agent"], actor: AGENT });
    const two = await server.makeKey({ roles: ["agent"], actor: AGENT, actsFor: ["ada"] });
    const any = await server.makeKey({ roles: ["agent"], actor: AGENT, actsFor: ["*"] });
    const asAda = { actor: HUMAN };
    const refused = await create(server, "closed", { key: own, body: asAda });
    expect([refused.status, refused.body.error.type]).toEqual([403, "forbidden"]);
    expect((await create(server, "closed", { key: two, body: { actor: { kind: "human", id: "grace" } } })).status).toBe(
      403,
    );
    for (const key of [two, any]) {
      const made = await created(server, "closed", { key, body: asAda });
      expect((await server.call("GET", `/resume/${made.resumeToken}`)).body.createdBy).toEqual(HUMAN);
    }
  });

  it("[RUNNING-KEYS-HUMAN] a human's key can fill in human-only fields; an agent's and a declared human can't", async () => {
    await server.putIntake({
      id: "signed",
      schema: { type: "object", properties: { consent: { "x-fill": "human" } } },
    });
    const human = await server.makeKey({ roles: ["agent"], actor: HUMAN });
    const agent = await server.makeKey({ roles: ["agent"], actor: AGENT });
    expect((await create(server, "signed", { key: human, body: { initialFields: { consent: true } } })).status).toBe(
      201,
    );
    expect((await create(server, "signed", { key: agent, body: { initialFields: { consent: true } } })).status).toBe(
      422,
    );
    expect((await create(server, "signed", { body: { actor: HUMAN, initialFields: { consent: true } } })).status).toBe(
      422,
    );
  });

  it("[RUNNING-KEYS-PRESET] the preset admin is the human admin, and creates anywhere", async () => {
    const made = await created(server, "closed", { key: server.adminKey });
    expect((await read(server, made.submissionId, server.adminKey)).body.createdBy).toEqual({
      kind: "human",
      id: "admin",
      proof: "key",
    });
  });
});

describe("roles", () => {
  it("[RUNNING-ROLES-AGENT] an agent reads, lists and cancels what its actor created", async () => {
    const mine = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "mine" } });
    const other = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "other" } });
    const made = await created(server, "closed", { key: mine });
    expect((await read(server, made.submissionId, mine)).body.resumeToken).toBe(made.resumeToken);
    expect((await server.call("GET", `/submissions/${made.submissionId}/events`, { key: mine })).status).toBe(200);
    expect((await server.call("GET", "/submissions", { key: mine })).body.items).toHaveLength(1);
    expect((await server.call("GET", "/submissions", { key: other })).body.items).toEqual([]);
    expect((await server.call("GET", "/submissions?createdBy=mine", { key: other })).body.items ?? []).toEqual([]);
    expect((await read(server, made.submissionId, other)).status).toBe(404);
    expect((await server.call("DELETE", `/submissions/${made.submissionId}`, { key: other })).status).toBe(404);
    expect((await server.call("DELETE", `/submissions/${made.submissionId}`, { key: mine })).body.state).toBe(
      "cancelled",
    );
  });

  it("[RUNNING-ROLES-VIEWER] a viewer reads all, writes nothing and gets no token", async () => {
    const viewer = await server.makeKey({ roles: ["viewer"], actor: { kind: "human", id: "vera" } });
    const made = await created(server, "closed", { key: server.adminKey, body: { initialFields: { name: "Ada" } } });
    const id = made.submissionId;
    const reply = await read(server, id, viewer);
    expect([reply.status, reply.body.fields]).toEqual([200, { name: "Ada" }]);
    expect(JSON.stringify([reply.body, reply.headers])).not.toContain("rtok_");
    expect(reply.headers.etag).toBe('"1"');
    expect((await server.call("GET", "/submissions?limit=1000", { key: viewer })).status).toBe(200);
    expect((await server.call("GET", "/events", { key: viewer })).status).toBe(200);
    for (const [method, path, body] of [
      ["PATCH", `/submissions/${id}`, { fields: { name: "x" }, version: 1 }],
      ["POST", `/submissions/${id}/submit`, { idempotencyKey: "k", version: 1 }],
      ["DELETE", `/submissions/${id}`, {}],
      ["POST", `/submissions/${id}/tokens/reissue`, {}],
      ["POST", `/submissions/${id}/tokens/revoke`, {}],
      ["POST", "/intakes/closed/submissions", {}],
      ["PUT", "/intakes/closed", { id: "closed" }],
      ["DELETE", "/intakes/closed", {}],
    ] as const) {
      const refused = await server.call(method, path, { key: viewer, body });
      expect([method, path, refused.status]).toEqual([method, path, 403]);
      expect(JSON.stringify(refused.body)).not.toContain("rtok_");
    }
    expect((await read(server, id, viewer)).body.version).toBe(1);
  });

  it("[RUNNING-ROLES-REVIEWER] a reviewer finds the submissions of its gates, without tokens", async () => {
    const key = await server.makeKey({ roles: ["reviewer"], actor: { kind: "human", id: "rosa" } });
    await server.putIntake({ id: "hers", approvalGates: [{ name: "check", reviewers: { ids: ["rosa"] } }] });
    await server.putIntake({ id: "theirs", approvalGates: [{ name: "check", reviewers: { ids: ["otto"] } }] });
    const ready = { body: { initialFields: { name: "Ada" } } };
    const hers = await created(server, "hers", ready);
    const theirs = await created(server, "theirs", ready);
    const plain = await created(server, "open", ready);
    await submit(server, hers.resumeToken, "hers");
    await submit(server, theirs.resumeToken, "theirs");
    const list = await server.call("GET", "/submissions?state=needs_review", { key });
    expect(list.body.items.map(({ submissionId }: Loose) => submissionId)).toEqual([hers.submissionId]);
    const seen = await read(server, hers.submissionId, key);
    expect([seen.status, seen.body.state]).toEqual([200, "needs_review"]);
    expect(JSON.stringify([seen.body, seen.headers])).not.toContain("rtok_");
    for (const { submissionId } of [theirs, plain]) expect((await read(server, submissionId, key)).status).toBe(404);
    expect((await create(server, "closed", { key })).status).toBe(403);
  });

  it("[RUNNING-CREATE-NEEDS-KEY] a closed intake needs an agent's key, a public one does not", async () => {
    expect((await create(server, "closed")).status).toBe(401);
    expect((await create(server, "open")).status).toBe(201);
    const agent = await server.makeKey({ roles: ["agent"], actor: AGENT });
    expect((await create(server, "closed", { key: agent })).status).toBe(201);
    for (const role of ["viewer", "reviewer"] as const) {
      const key = await server.makeKey({ roles: [role], actor: HUMAN });
      expect((await create(server, "closed", { key })).status).toBe(403);
    }
  });

  it("[RUNNING-PUBLIC-DECLARED] a public create records the caller as declared", async () => {
    const made = await created(server, "open", { body: { actor: { kind: "human", id: "admin" } } });
    expect((await read(server, made.submissionId, server.adminKey)).body.createdBy).toEqual({
      kind: "human",
      id: "admin",
      declared: true,
    });
    const impostor = await server.makeKey({ roles: ["agent"], actor: { kind: "human", id: "admin" } });
    expect((await read(server, made.submissionId, impostor)).status).toBe(404);
  });

  it("[RUNNING-TOKEN-ENOUGH] with the token alone: read, history, validate, set, submit, cancel", async () => {
    const made = await created(server, "closed", { key: server.adminKey, body: { initialFields: { name: "Ada" } } });
    const call = (method: string, path: string, body?: unknown) =>
      server.call(method, path, body === undefined ? {} : { body });
    let token: string = made.resumeToken;
    expect((await call("GET", `/resume/${token}`)).status).toBe(200);
    expect((await call("GET", `/submissions/${token}`)).status).toBe(200);
    expect((await call("GET", `/resume/${token}/events`)).status).toBe(200);
    expect((await call("POST", `/resume/${token}/validate`, {})).status).toBe(200);
    const set = await call("PATCH", `/submissions/${made.submissionId}`, {
      resumeToken: token,
      actor: AGENT,
      fields: { note: "x" },
    });
    expect(set.status).toBe(200);
    token = set.body.resumeToken;
    expect((await submit(server, token, "by-token")).status).toBe(200);
    const other = await created(server, "closed", { key: server.adminKey });
    expect((await call("DELETE", `/resume/${other.resumeToken}`)).body.state).toBe("cancelled");
  });

  it("[RUNNING-BY-ID-NEEDS-KEY] an id alone opens nothing, a version neither", async () => {
    const { submissionId: id } = await created(server, "open");
    for (const path of [`/submissions/${id}`, `/submissions/${id}/events`]) {
      const reply = await server.call("GET", path);
      expect([reply.status, reply.body.error.type]).toEqual([401, "unauthorized"]);
    }
    for (const where of [id, "sub_01977d3e-8c00-7000-8000-000000000001"]) {
      const headers = { "if-match": '"1"' };
      const body = { actor: AGENT, fields: { name: "x" } };
      const reply = await server.call("PATCH", `/submissions/${where}/fields`, { headers, body });
      expect([reply.status, reply.body.error.type]).toEqual([428, "token_required"]);
    }
  });
});
