import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { type Loose, minimalIntake, startTestServer, type TestServer } from "../support/harness.ts";
import { create, created, read, setFields, submit } from "../support/moves.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/intakes", import.meta.url));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const get = (path: string, key: string | null = server.adminKey) =>
  server.call("GET", path, key === null ? {} : { key });
const put = (definition: Loose, key = server.adminKey) =>
  server.call("PUT", `/intakes/${definition.id}`, { key, body: definition });

describe("reading", () => {
  it("[RUNNING-INTAKES-LIST] the list shows what there is and where it comes from", async () => {
    await server.putIntake({ id: "listed", access: "key", description: "For the list" });
    const { items } = (await get("/intakes?limit=1000")).body;
    expect(items.find(({ id }: Loose) => id === "listed")).toEqual({
      id: "listed",
      version: "1",
      name: "listed",
      description: "For the list",
      access: "key",
      retired: false,
      source: "api",
    });
    expect(items.find(({ id }: Loose) => id === "contact")).toMatchObject({ access: "public", source: "folder" });
    await server.call("DELETE", "/intakes/listed", { key: server.adminKey });
    const after = (await get("/intakes?limit=1000")).body.items;
    expect(after.find(({ id }: Loose) => id === "listed")).toMatchObject({ retired: true });
  });

  it("[RUNNING-INTAKES-NO-SECRETS] secrets, headers and passwords are not shown to anybody", async () => {
    await server.putIntake({
      id: "secretive",
      destination: {
        kind: "webhook",
        url: "https://user:pass-1@example.com/hook",
        secret: "whsec_hidden-2",
        headers: { authorization: "Bearer hidden-3" },
      },
      eventWebhooks: [{ url: "https://me:pass-4@example.com/", secret: "hidden-5", types: ["submission.created"] }],
    });
    const reply = await get("/intakes/secretive");
    expect(reply.body.intake.destination).toMatchObject({ kind: "webhook", url: "https://example.com/hook" });
    for (const answer of [reply, await get("/intakes/secretive", null), await get("/intakes")]) {
      expect(JSON.stringify(answer.body)).not.toMatch(/pass-1|hidden-2|hidden-3|pass-4|hidden-5/);
    }
  });

  it("[RUNNING-INTAKES-SCHEMA] [RUNNING-INTAKES-PUBLIC] schema and definition, of a public intake also without a key", async () => {
    await server.putIntake({ id: "shown" });
    await server.putIntake({ id: "hidden", access: "key" });
    const { schema } = minimalIntake("shown");
    for (const key of [server.adminKey, null]) {
      expect((await get("/intakes/shown/schema", key)).body).toEqual({
        ok: true,
        intakeId: "shown",
        version: "1",
        schema,
      });
      expect((await get("/intakes/shown", key)).body.intake).toMatchObject(minimalIntake("shown"));
    }
    expect((await get("/intakes/hidden/schema")).status).toBe(200);
    for (const path of ["/intakes/hidden", "/intakes/hidden/schema"]) expect((await get(path, null)).status).toBe(401);
  });
});

describe("putting", () => {
  it("[RUNNING-INTAKES-ADMIN-ONLY] other roles neither put nor retire", async () => {
    await server.putIntake({ id: "guarded" });
    for (const role of ["agent", "reviewer", "viewer"] as const) {
      const key = await server.makeKey({ roles: [role], actor: { kind: "human", id: role } });
      expect((await server.putIntake({ id: "guarded", version: "2" }, key)).status).toBe(403);
      expect((await server.call("DELETE", "/intakes/guarded", { key })).status).toBe(403);
    }
    expect((await server.call("PUT", "/intakes/guarded", { body: minimalIntake("guarded") })).status).toBe(401);
    expect((await get("/intakes/guarded")).body.intake.version).toBe("1");
  });

  it("[RUNNING-INTAKES-PUT] a new one is 201, a changed one 200, with what was stored", async () => {
    const first = await put(minimalIntake("put-me"));
    expect([first.status, first.body.intake]).toEqual([201, expect.objectContaining(minimalIntake("put-me"))]);
    const changed = { ...minimalIntake("put-me"), version: "2", name: "Renamed" };
    const second = await put(changed);
    expect([second.status, second.body.intake]).toEqual([200, expect.objectContaining(changed)]);
    expect((await get("/intakes/put-me")).body.intake).toEqual(second.body.intake);
  });

  it("[RUNNING-INTAKES-PUT-SAME] the same definition in another spelling changes nothing", async () => {
    const definition = minimalIntake("same");
    await put(definition);
    const before = (await get("/intakes/same")).body;
    const reordered = Object.fromEntries(Object.entries(definition).reverse());
    expect((await put(reordered)).status).toBe(200);
    expect((await get("/intakes/same")).body).toEqual(before);
  });

  it("[RUNNING-INTAKES-VERSION] every change needs another version, which may be lower", async () => {
    const base = { ...minimalIntake("versioned"), version: "5" };
    await put(base);
    for (const change of [{ name: "Other" }, { schema: { type: "object" } }, { access: "key" }, { ttlMs: 60_000 }]) {
      const reply = await put({ ...base, ...change });
      expect([reply.status, reply.body.error.type]).toEqual([409, "conflict"]);
      expect(reply.body.error.message).toContain("version");
    }
    expect((await put({ ...base, name: "Other", version: "4" })).status).toBe(200);
  });

  it("[RUNNING-INTAKES-REFUSED] an unusable definition is refused with every location", async () => {
    const bad: [Record<string, unknown>, string][] = [
      [{ schema: { type: "object", properties: { a: { type: "strin" } } } }, "schema.properties.a"],
      [
        { schema: { type: "object", properties: { a: { $ref: "https://example.com/x.json" } } } },
        "schema.properties.a.$ref",
      ],
      [
        { schema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } } },
        "schema.properties.a.pattern",
      ],
      [{ destination: { kind: "webhook" } }, "destination.url"],
      [
        { approvalGates: [{ name: "g", reviewers: {}, autoApproveIf: { nonsense: 1 } }] },
        "approvalGates.0.autoApproveIf",
      ],
      [{ name: 7, version: "" }, "name"],
    ];
    for (const [change, place] of bad) {
      const reply = await put({ ...minimalIntake("refused"), ...change });
      expect([reply.status, reply.body.error.type]).toEqual([422, "invalid"]);
      expect(reply.body.error.fields.map(({ path }: Loose) => path).join(" ")).toContain(place);
    }
    const both = await put({ ...minimalIntake("refused"), name: 7, version: "" });
    expect(both.body.error.fields.map(({ path }: Loose) => path).sort()).toEqual(["name", "version"]);
    expect((await put({ ...minimalIntake("Not-An-Id") })).status).toBe(422);
    expect(
      (await server.call("PUT", "/intakes/other", { key: server.adminKey, body: minimalIntake("refused") })).status,
    ).toBe(400);
    expect((await get("/intakes/refused")).status).toBe(404);
  });

  it("[RUNNING-INTAKES-MAX-FIELDS] 500 fields are accepted, 501 are not", async () => {
    const withFields = (count: number) => ({
      ...minimalIntake("wide"),
      schema: {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, {}])),
      },
    });
    expect((await put(withFields(501))).status).toBe(422);
    expect((await put(withFields(500))).status).toBe(201);
    const small = await startTestServer({ store: "memory", env: { FORMBRIDGE_MAX_SCHEMA_FIELDS: "50" } });
    expect((await small.putIntake({ ...withFields(51) })).status).toBe(422);
    await small.stop();
  });
});

describe("the folder", () => {
  const contact = JSON.parse(readFileSync(join(EXAMPLES, "contact.json"), "utf8"));

  it("[RUNNING-INTAKES-FOLDER-OWNS] its intakes can't be changed or retired, and putting the same is fine", async () => {
    const other = await put({ ...contact, version: "99", name: "Mine" });
    expect([other.status, other.body.error.type]).toEqual([409, "conflict"]);
    expect((await put(contact)).status).toBe(200);
    const retired = await server.call("DELETE", "/intakes/contact", { key: server.adminKey });
    expect(retired.status).toBe(409);
    expect((await get("/intakes/contact")).body.intake).toMatchObject({ version: contact.version, source: "folder" });
  });

  it("[RUNNING-INTAKES-FOLDER-CHANGED] a definition changed without a new version stops the start", async () => {
    const [data, intakes] = [tempFolder(), tempFolder()];
    const env = { FORMBRIDGE_DATA: data.path, FORMBRIDGE_INTAKES: intakes.path };
    cpSync(EXAMPLES, intakes.path, { recursive: true });
    const first = await startTestServer({ store: "sqlite", env });
    await first.server.stop();
    const file = join(intakes.path, "contact.json");
    writeFileSync(file, JSON.stringify({ ...contact, name: "Changed" }));
    await expect(startTestServer({ store: "sqlite", env })).rejects.toThrow(/contact\.json.*version/s);
    writeFileSync(file, JSON.stringify({ ...contact, name: "Changed", version: "1.0.1" }));
    const second = await startTestServer({ store: "sqlite", env });
    const shown = await second.call("GET", "/intakes/contact");
    expect(shown.body.intake).toMatchObject({ name: "Changed", version: "1.0.1" });
    await second.server.stop();
    rmSync(file);
    const third = await startTestServer({ store: "sqlite", env });
    expect((await create(third, "contact", { key: third.adminKey })).status).toBe(404);
    await third.stop();
    data.remove();
    intakes.remove();
  });
});

describe("retiring", () => {
  it("[RUNNING-INTAKES-RETIRE] no new submissions, and existing ones continue", async () => {
    await server.putIntake({ id: "leaving" });
    const made = await created(server, "leaving");
    const retired = await server.call("DELETE", "/intakes/leaving", { key: server.adminKey });
    expect(retired.body).toEqual({ ok: true, intakeId: "leaving", retired: true });
    const agent = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
    for (const key of [server.adminKey, agent]) {
      const reply = await create(server, "leaving", { key });
      expect([reply.status, reply.body.error.type]).toEqual([404, "not_found"]);
    }
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    expect((await submit(server, set.body.resumeToken, "leaving")).body.state).toBe("finalized");
    expect((await server.call("DELETE", "/intakes/leaving", { key: server.adminKey })).status).toBe(200);
  });

  it("[RUNNING-INTAKES-RETIRE] a public intake that is retired is a 404 without a key, too", async () => {
    await server.putIntake({ id: "was-public" });
    expect((await create(server, "was-public")).status).toBe(201);
    await server.call("DELETE", "/intakes/was-public", { key: server.adminKey });
    const reply = await create(server, "was-public");
    expect([reply.status, reply.body.error.type]).toEqual([404, "not_found"]);
  });

  it("[RUNNING-INTAKES-RETURN] a retired id may be put again, as it was or changed", async () => {
    for (const [id, change] of [
      ["back-1", {}],
      ["back-2", { version: "2", name: "New" }],
    ] as const) {
      await server.putIntake({ id });
      await server.call("DELETE", `/intakes/${id}`, { key: server.adminKey });
      const again = await server.putIntake({ id, ...change });
      expect([200, 201]).toContain(again.status);
      expect((await create(server, id)).status).toBe(201);
    }
  });

  it("[RUNNING-INTAKES-FROZEN] a submission keeps the schema, time to live and version it was created with", async () => {
    await server.putIntake({ id: "frozen" });
    const made = await created(server, "frozen");
    await server.putIntake({
      id: "frozen",
      version: "2",
      schema: { type: "object", properties: { other: {} }, required: ["other"], additionalProperties: false },
      destination: { kind: "webhook", url: "https://example.com/" },
    });
    const { schema, intakeVersion, missingFields } = (await read(server, made.submissionId, server.adminKey)).body;
    expect({ schema, intakeVersion, missingFields }).toEqual({
      schema: minimalIntake("frozen").schema,
      intakeVersion: "1",
      missingFields: ["name"],
    });
    const set = await setFields(server, made.resumeToken, { name: "Ada" });
    expect(set.status).toBe(200);
    expect((await submit(server, set.body.resumeToken, "frozen")).body.state).toBe("finalized");
  });
});

it("[RUNNING-INTAKES-SEALED] the secrets of a definition are not stored in clear, and the definition is unchanged", async () => {
  const sealed = {
    id: "sealed-receivers",
    destination: {
      kind: "webhook" as const,
      url: "https://user:url-password-1@example.com/hook?token=query-secret-2",
      headers: { authorization: "Bearer header-secret-3" },
      secret: "destination-secret-4",
    },
    eventWebhooks: [{ url: "https://example.com/events", secret: "webhook-secret-5" }],
  };
  expect((await server.putIntake(sealed)).status).toBe(201);
  expect((await server.putIntake(sealed)).status).toBe(200);
  const atRest = await server.atRest();
  expect(atRest).toContain("sealed-receivers");
  for (const secret of [
    "url-password-1",
    "query-secret-2",
    "header-secret-3",
    "destination-secret-4",
    "webhook-secret-5",
  ]) {
    expect(atRest.includes(secret), secret).toBe(false);
  }
  const { intakes } = server.server.core.backend;
  const stored = await intakes.get(sealed.id);
  expect(stored?.definition).toMatchObject(sealed);
  expect(await intakes.definition(stored?.digest ?? "")).toEqual(stored?.definition);
  const listed = await intakes.list({ tenant: "default" }, 1_000);
  expect(listed.find(({ definition }) => definition.id === sealed.id)).toEqual(stored);
  const shown = await server.call("GET", `/intakes/${sealed.id}`, { key: server.adminKey });
  expect(shown.body.intake ?? shown.body).not.toHaveProperty("receivers");
});
