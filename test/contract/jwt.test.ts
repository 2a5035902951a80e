import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer } from "../support/harness.ts";
import { AUDIENCE, startIssuer } from "../support/issuer.ts";
import { issuerSettings, type JwtScene, startJwtScene } from "../support/jwt-server.ts";
import { create, created, eventsOf, idempotencyKey, read, setFields } from "../support/moves.ts";

let scene: JwtScene;
beforeAll(async () => {
  scene = await startJwtScene();
  await scene.server.putIntake({ id: "other", access: "key" });
  await scene.server.putIntake({
    id: "gated",
    access: "key",
    approvalGates: [{ name: "check", reviewers: { ids: ["test:grace"] } }],
  });
});
afterAll(() => scene.stop());

const get = (path: string, key: string) => scene.server.call("GET", path, { key });

describe("roles", () => {
  it("[JWT-GOOD] an agent creates, and reads, writes and cancels its own", async () => {
    const { server, token } = scene;
    const key = await token("agent");
    const made = await created(server, "closed", { key });
    expect(made).toMatchObject({ state: "draft", resumeToken: expect.stringMatching(/^rtok_/) });
    const path = `/submissions/${made.submissionId}`;
    const written = await server.call("PATCH", path, {
      key,
      headers: { "if-match": '"1"' },
      body: { fields: { name: "Ada" } },
    });
    expect([written.status, written.body.version]).toEqual([200, 2]);
    expect((await get("/submissions", key)).body.items).toHaveLength(1);
    expect((await get("/keys", key)).status).toBe(403);
    expect(
      (await read(server, (await created(server, "closed", { key: server.adminKey })).submissionId, key)).status,
    ).toBe(404);
    expect((await server.call("DELETE", path, { key })).status).toBe(200);
  });

  it("[JWT-GOOD] a viewer reads everything and gets no token", async () => {
    const { server, token } = scene;
    const made = await created(server, "closed", { key: server.adminKey });
    const key = await token("viewer");
    const seen = await read(server, made.submissionId, key);
    expect(seen.status).toBe(200);
    expect(seen.body).not.toHaveProperty("resumeToken");
    expect((await create(server, "closed", { key })).status).toBe(403);
  });

  it("[JWT-GOOD] a reviewer decides at its gate, known by the id that the token gives", async () => {
    const { server, token } = scene;
    const made = await created(server, "gated", { key: server.adminKey, body: { initialFields: { name: "Ada" } } });
    await server.call("POST", `/resume/${made.resumeToken}/submit`, {
      key: server.adminKey,
      body: { idempotencyKey: idempotencyKey("gated") },
    });
    const review = async (sub: string) =>
      await server.call("POST", `/submissions/${made.submissionId}/review`, {
        key: await token("reviewer", { claims: { sub } }),
        body: { decision: "approved" },
      });
    expect((await review("eve")).status).toBe(404);
    const approved = await review("grace");
    expect([approved.status, approved.body.state]).toEqual([200, "finalized"]);
  });

  it("[JWT-GOOD] an admin administers", async () => {
    const { server, token } = scene;
    const key = await token("admin");
    const grant = { name: "x", roles: ["agent"], actor: { kind: "agent", id: "x" } };
    expect((await server.call("POST", "/keys", { key, body: grant })).status).toBe(201);
    expect((await get("/events", key)).status).toBe(200);
  });

  it("[JWT-ROLES] a role that the issuer may not give is not given, and a token without any role opens nothing", async () => {
    const limited = await startJwtScene({ settings: { roles: { claim: "roles", allowed: ["viewer"] } } });
    try {
      const call = async (roles: unknown) =>
        await limited.server.call("GET", "/keys", { key: await limited.token("", { claims: { roles } }) });
      expect((await call(["admin", "viewer"])).status).toBe(403);
      for (const roles of [["admin"], [], undefined, "root"]) expect((await call(roles)).status).toBe(401);
    } finally {
      await limited.stop();
    }
  });
});

describe("access", () => {
  it("[JWT-TENANTS] what belongs to another tenant does not exist", async () => {
    const { server, token } = scene;
    const { submissionId } = await created(server, "closed", { key: await token("agent") });
    const key = await token("admin", { claims: { org: "acme" } });
    const reply = await read(server, submissionId, key);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual((await read(server, "sub_none", key)).body);
    expect((await create(server, "closed", { key })).body).toEqual((await create(server, "none", { key })).body);
    expect((await get("/submissions", key)).body.items).toEqual([]);
  });

  it("[JWT-TENANTS] a tenant that the issuer may not assign is refused", async () => {
    const { token } = scene;
    for (const org of ["globex", undefined]) {
      expect((await get("/submissions", await token("admin", { claims: { org } }))).status).toBe(401);
    }
  });

  it("[JWT-INTAKES] a limited token sees only its intakes, and none without the claim", async () => {
    const limited = await startJwtScene({ settings: { intakes: { claim: "forms" } } });
    try {
      const attempt = async (forms: unknown) =>
        await create(limited.server, "closed", { key: await limited.token("agent", { claims: { forms } }) });
      expect((await attempt(["closed"])).status).toBe(201);
      expect((await attempt(["other"])).status).toBe(404);
      expect((await attempt(undefined)).status).toBe(404);
    } finally {
      await limited.stop();
    }
  });
});

describe("identity", () => {
  it("[AUDIT-F18] [JWT-ACTOR] [FIELDS-PROOF] history and record name the token's actor, and it may name no other", async () => {
    const { server, token } = scene;
    const key = await token("agent");
    const { submissionId } = await created(server, "closed", { key });
    const actor = { kind: "human", id: "test:ada", proof: "oidc" };
    expect((await read(server, submissionId, key)).body.createdBy).toEqual(actor);
    for (const event of await eventsOf(server, submissionId)) expect(event.actor).toEqual(actor);
    const other = await create(server, "closed", { key, body: { actor: { kind: "human", id: "bob" } } });
    expect(other.status).toBe(403);
  });

  it("[JWT-ACTOR] a subject with the name of a key's actor is not that actor", async () => {
    const { server, token } = scene;
    const key = await server.makeKey({ roles: ["agent"], actor: { kind: "human", id: "ada" } });
    const { submissionId } = await created(server, "closed", { key });
    expect((await read(server, submissionId, await token("agent"))).status).toBe(404);
    const { submissionId: theirs } = await created(server, "closed", { key: await token("agent") });
    expect((await read(server, theirs, key)).status).toBe(404);
  });

  it("[JWT-ACTOR] the same subject of two issuers is two actors", async () => {
    const [first, second] = [await startIssuer(Date.now), await startIssuer(Date.now)];
    const server = await startTestServer({
      store: "memory",
      fakeClock: false,
      env: {
        FORMBRIDGE_JWT_ISSUERS: JSON.stringify([issuerSettings(first), issuerSettings(second, { name: "second" })]),
      },
    });
    try {
      await server.putIntake({ id: "closed", access: "key" });
      const claims = { roles: ["agent"], org: "default" };
      const { submissionId } = await created(server, "closed", { key: await first.token({ claims }) });
      expect((await read(server, submissionId, await first.token({ claims }))).status).toBe(200);
      expect((await read(server, submissionId, await second.token({ claims }))).status).toBe(404);
      // One issuer can't sign for the other.
      const crossed = await second.token({ claims: { ...claims, iss: first.url, aud: AUDIENCE } });
      expect((await read(server, submissionId, crossed)).status).toBe(401);
    } finally {
      await Promise.all([server.stop(), first.stop(), second.stop()]);
    }
  });

  it("[JWT-PRINCIPAL] a later token of the subject holds the resume token; another subject's does not", async () => {
    const { server, token } = scene;
    const made = await created(server, "closed", { key: await token("agent", { claims: { jti: "1" } }) });
    const later = await read(server, made.submissionId, await token("agent", { claims: { jti: "2" } }));
    expect(later.body.resumeToken).toBe(made.resumeToken);
    expect((await read(server, made.submissionId, await token("agent", { claims: { sub: "bob" } }))).status).toBe(404);
    const renamed = await setFields(server, made.resumeToken, { name: "x" }, { key: await token("agent") });
    expect(renamed.body.resumeToken).toMatch(/^rtok_/);
  });

  it("[JWT-PRINCIPAL] a retry with a fresh token is replayed; another subject's is a conflict that names nothing", async () => {
    const { server, token } = scene;
    const headers = { "idempotency-key": idempotencyKey("jwt-create") };
    const made = await created(server, "closed", { key: await token("agent", { claims: { jti: "1" } }), headers });
    const again = await create(server, "closed", { key: await token("agent", { claims: { jti: "2" } }), headers });
    expect([again.status, again.body.submissionId, again.body._idempotent]).toEqual([200, made.submissionId, true]);
    const other = await create(server, "closed", { key: await token("agent", { claims: { sub: "bob" } }), headers });
    expect(other.status).toBe(409);
    expect(JSON.stringify(other.body)).not.toContain(made.submissionId);
  });

  it("[JWT-PRINCIPAL] creates are counted by subject, whatever its token", async () => {
    const limited = await startJwtScene({
      env: { FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_RATE_CREATES_PER_KEY: "2" },
    });
    try {
      const attempt = async (sub: string, jti: string) =>
        (await create(limited.server, "closed", { key: await limited.token("agent", { claims: { sub, jti } }) }))
          .status;
      expect([await attempt("ada", "1"), await attempt("ada", "2"), await attempt("ada", "3")]).toEqual([
        201, 201, 429,
      ]);
      expect(await attempt("bob", "4")).toBe(201);
    } finally {
      await limited.stop();
    }
  });
});
