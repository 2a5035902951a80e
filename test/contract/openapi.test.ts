import { validate } from "@scalar/openapi-parser";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callHandoffs } from "../support/handoffs.ts";
import { type Loose, type Reply, startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, HUMAN, idempotencyKey, setFields } from "../support/moves.ts";
import { callUploads } from "../support/uploads.ts";

let server: TestServer;
let document: Loose;
let ajv: Ajv2020;

beforeAll(async () => {
  server = await startTestServer();
  document = (await server.call("GET", "/openapi.json")).body;
  ajv = createAjv();
  ajv.addSchema({ ...withoutIds(document), $id: "document" });
});
afterAll(() => server.stop());

function createAjv(): Ajv2020 {
  const made = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(made);
  return made;
}

const withoutIds = (value: Loose): Loose =>
  JSON.parse(JSON.stringify(value, (key, inner) => (key === "$id" && typeof inner === "string" ? undefined : inner)));

/** All operations of the document. */
const operations = (): { path: string; method: string; operation: Loose }[] =>
  Object.entries(document.paths as Record<string, Loose>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: operation as Loose })),
  );

/** A schema of the document, which may point back into it. */
function check(schema: Loose): ValidateFunction {
  const text = JSON.stringify(withoutIds(schema)).replaceAll('"#/', '"document#/');
  const made = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, made);
  return made;
}
const compiled = new Map<string, ValidateFunction>();

describe("the document", () => {
  it("[RUNNING-OPENAPI-VALID] is valid OpenAPI 3.1", async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const { valid, errors } = await validate(document);
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it("[RUNNING-OPENAPI-VALID] compiles as a whole, as generators of code do", () => {
    expect(() => createAjv().addSchema({ ...document, $id: "whole" })).not.toThrow();
  });

  it("[RUNNING-OPENAPI-VALID] has every path of the contract", () => {
    const named = operations().map(
      ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`,
    );
    const perSubmission = ["/submissions/{}", "/resume/{}"].flatMap((root) => [
      `GET ${root}`,
      `PATCH ${root}/fields`,
      `POST ${root}/validate`,
      `POST ${root}/uploads`,
      `POST ${root}/uploads/{}/confirm`,
      `POST ${root}/submit`,
      `DELETE ${root}`,
      `GET ${root}/events`,
      `POST ${root}/handoffs`,
      `GET ${root}/handoffs`,
      `DELETE ${root}/handoffs/{}`,
    ]);
    expect(named).toEqual(
      expect.arrayContaining([
        ...perSubmission,
        "POST /intakes/{}/submissions",
        "POST /submissions/{}/sessions",
        "GET /resume/{}/{}",
        "GET /resume",
        "POST /submissions/{}/review",
        "POST /submissions/{}/tokens/revoke",
        "POST /submissions/{}/tokens/reissue",
        "POST /submissions/{}/deliveries/retry",
        "GET /submissions",
        "GET /reviews",
        "GET /reviews/{}",
        "POST /reviews/{}",
        "GET /events",
        "GET /intakes",
        "GET /intakes/{}",
        "GET /intakes/{}/schema",
        "PUT /intakes/{}",
        "DELETE /intakes/{}",
        "POST /keys",
        "GET /keys",
        "DELETE /keys/{}",
        "POST /webhooks",
        "GET /webhooks",
        "GET /webhooks/{}",
        "DELETE /webhooks/{}",
        "POST /webhooks/{}/enable",
        "POST /webhooks/{}/secret",
        "GET /healthz",
        "GET /readyz",
      ]),
    );
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("[AUDIT-F23] every operation that takes an idempotency key may answer `locked`, and no other", () => {
    const takesKey = ({ parameters = [] }: Loose): boolean =>
      parameters.some(({ name }: Loose) => name === "Idempotency-Key");
    const mayBeLocked = ({ responses }: Loose): boolean => String(responses["503"]?.description).includes("`locked`");
    const named = (test: (operation: Loose) => boolean): string[] =>
      operations().flatMap(({ operation }) => (test(operation) ? [operation.operationId] : []));
    expect(named(takesKey)).toHaveLength(7);
    expect(named(mayBeLocked)).toEqual(named(takesKey));
  });

  it("[RUNNING-OPENAPI-EXAMPLES] every example passes its schema", () => {
    let examples = 0;
    const visit = (node: Loose, place: string): void => {
      if (typeof node !== "object" || node === null) return;
      const schema = node.schema ?? node;
      const given = [
        ...(node.example === undefined ? [] : [node.example]),
        ...(Array.isArray(node.examples) ? node.examples : []),
      ];
      for (const example of given) {
        examples += 1;
        const valid = check(schema);
        expect([place, valid(example), valid.errors]).toEqual([place, true, null]);
      }
      for (const [key, inner] of Object.entries(node)) {
        if (key === "example" || key === "examples") continue;
        // A property may have the name of a keyword.
        const parts = key === "properties" ? Object.values(inner as Loose) : [inner];
        for (const part of parts) visit(part, `${place}/${key}`);
      }
    };
    visit(document.paths, "paths");
    visit(document.components.schemas, "schemas");
    expect(examples).toBeGreaterThan(20);
  });

  it("[RUNNING-OPENAPI-EXAMPLES] examples of bodies are accepted as they are", async () => {
    const example = (path: string, method: string): Loose =>
      document.paths[path][method].requestBody.content["application/json"].example;
    await server.putIntake({ id: "examples", schema: { type: "object" } });
    const body = example("/intakes/{intakeId}/submissions", "post");
    const made = await server.call("POST", "/intakes/examples/submissions", { body });
    expect(made.status).toBe(201);
    const set = await server.call("PATCH", `/resume/${made.body.resumeToken}/fields`, {
      body: example("/resume/{ref}/fields", "patch"),
    });
    expect(set.status).toBe(200);
    const token = set.body.resumeToken;
    expect(
      (await server.call("POST", `/resume/${token}/validate`, { body: example("/resume/{ref}/validate", "post") }))
        .status,
    ).toBe(200);
    expect(
      (await server.call("POST", `/resume/${token}/submit`, { body: example("/resume/{ref}/submit", "post") })).status,
    ).toBe(200);
    const key = server.adminKey;
    expect((await server.call("POST", "/keys", { key, body: example("/keys", "post") })).status).toBe(201);
  });
});

describe("the responses", () => {
  /** Which path of the document a request was for. */
  function declared(method: string, path: string): { template: string; operation: Loose } {
    const [bare = ""] = path.split("?");
    for (const [template, item] of Object.entries(document.paths as Record<string, Loose>)) {
      const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      if (pattern.test(bare) && item[method.toLowerCase()] !== undefined)
        return { template, operation: item[method.toLowerCase()] };
    }
    throw new Error(`${method} ${bare} is not declared`);
  }

  function expectDeclared(method: string, path: string, reply: Reply): void {
    const { template, operation } = declared(method, path);
    const response = operation.responses[String(reply.status)];
    expect([method, template, reply.status, response !== undefined]).toEqual([method, template, reply.status, true]);
    const undescribed = describedHeaders(reply).filter((name) => response.headers?.[name] === undefined);
    expect([method, template, reply.status, undescribed]).toEqual([method, template, reply.status, []]);
    const [mediaType = ""] = (reply.headers["content-type"] ?? "").split(";");
    const schema = response.content?.[mediaType]?.schema;
    if (schema === undefined) {
      expect(reply.body).toBe("");
      return;
    }
    const valid = check(schema);
    expect([method, template, reply.status, valid(reply.body), valid.errors]).toEqual([
      method,
      template,
      reply.status,
      true,
      null,
    ]);
  }

  /** Which headers of a response the document must describe. */
  const describedHeaders = ({ headers }: Reply): string[] =>
    Object.keys(document.components.headers).filter((name) => headers[name.toLowerCase()] !== undefined);

  it("[RUNNING-OPENAPI-TRUE] [AUDIT-F23] every response of a scenario is as declared, headers included", async () => {
    const seen: [string, string, Reply][] = [];
    const watched: TestServer["call"] = async (method, path, options) => {
      const reply = await server.call(method, path, options);
      seen.push([method, path, reply]);
      return reply;
    };
    const caller = { call: watched };
    const key = server.adminKey;
    await server.putIntake({
      id: "scene",
      approvalGates: [{ name: "check", reviewers: {} }],
      schema: {
        type: "object",
        properties: {
          name: { type: "string" },
          pin: { type: "string", maxLength: 4, "x-sensitive": true },
          doc: { "x-file": { accept: ["text/plain"], maxBytes: 10 } },
        },
        required: ["name"],
        additionalProperties: false,
      },
    });
    const made = await create(caller, "scene", { body: { idempotencyKey: idempotencyKey("scene") } });
    await create(caller, "scene", { body: { idempotencyKey: idempotencyKey("scene") } });
    await create(caller, "scene", { body: { idempotencyKey: idempotencyKey("scene"), ttlMs: 60_000 } });
    await create(caller, "nowhere", { key });
    await create(caller, "scene", { body: { initialFields: { unknown: 1 } } });
    const first: string = made.body.resumeToken;
    const id: string = made.body.submissionId;
    await watched("POST", `/resume/${first}/submit`, { body: { actor: AGENT } });
    await watched("POST", `/resume/${first}/submit`, { body: { actor: AGENT, idempotencyKey: "too-early" } });
    await watched("POST", `/resume/${first}/submit`, { body: { actor: AGENT, idempotencyKey: "too-early" } });
    const set = await setFields(caller, first, { name: "Ada", pin: "123456" }, { body: { actor: HUMAN } });
    const second: string = set.body.resumeToken;
    await setFields(caller, first, { name: "Stale" });
    await setFields(caller, second, { other: 1 });
    await watched("POST", `/resume/${second}/validate`, { body: {} });
    const mended = await setFields(caller, second, { pin: null });
    const third = await callUploads(watched, mended.body.resumeToken);
    await watched("GET", `/resume/${third}`);
    await watched("GET", `/resume/${third}`, { headers: { "if-none-match": `"${third}"` } });
    await callHandoffs(watched, { token: third, id, key });
    await watched("GET", `/submissions/${id}`, { key });
    await watched("GET", `/submissions/${id}`);
    await watched("PATCH", `/submissions/${id}/fields`, { body: { fields: {} } });
    const sent = await watched("POST", `/resume/${third}/submit`, { body: { actor: AGENT, idempotencyKey: "scene" } });
    await setFields(caller, sent.body.resumeToken, { name: "Locked" });
    await watched("GET", "/reviews", { key });
    for (const link of ["rvw_short", `rvw_${"x".repeat(43)}`]) {
      await watched("GET", `/reviews/${link}`);
      await watched("POST", `/reviews/${link}`, { body: { decision: "approved" } });
    }
    await watched("POST", `/submissions/${id}/review`, { key, body: { decision: "rejected" } });
    await watched("POST", `/submissions/${id}/review`, { key, body: { decision: "rejected", reasons: ["no"] } });
    const rejected = await watched("GET", `/submissions/${id}`, { key });
    await watched("POST", `/resume/${rejected.body.resumeToken}/submit`, {
      body: { actor: AGENT, idempotencyKey: "scene-2" },
    });
    await watched("POST", `/submissions/${id}/review`, { key, body: { decision: "approved" } });
    await watched("POST", `/submissions/${id}/review`, { key, body: { decision: "approved" } });
    await watched("POST", `/submissions/${id}/deliveries/retry`, { key, body: {} });
    await setFields(caller, rejected.body.resumeToken, { name: "Late" });
    await watched("GET", `/submissions/${id}/events?stream=all&proof=true`, { key });
    const other = await create(caller, "scene", { key });
    await watched("POST", `/submissions/${other.body.submissionId}/tokens/revoke`, { key, body: {} });
    await watched("GET", `/resume/${other.body.resumeToken}`);
    await watched("POST", `/submissions/${other.body.submissionId}/tokens/reissue`, { key, body: {} });
    await watched("DELETE", `/submissions/${other.body.submissionId}`, { key, body: { reason: "done" } });
    await watched("DELETE", `/submissions/${other.body.submissionId}`, { key });
    const short = await created(server, "scene", { body: { ttlMs: 60_000 } });
    server.clock.advance(120_000);
    await watched("GET", `/resume/${short.resumeToken}`);
    await setFields(caller, short.resumeToken, { name: "Late" });
    for (const path of [
      "/submissions?fields=true",
      "/reviews?limit=1",
      "/events?stream=all",
      "/intakes",
      "/intakes/scene",
      "/intakes/scene/schema",
      "/keys",
    ]) {
      await watched("GET", path, { key });
      await watched("GET", path);
      await watched("GET", `${path.split("?")[0]}?nonsense=1`, { key });
    }
    const granted = await watched("POST", "/keys", { key, body: { name: "x", roles: ["viewer"], actor: HUMAN } });
    const viewer: string = granted.body.key;
    await watched("POST", "/keys", { key: viewer, body: { name: "x", roles: ["viewer"], actor: HUMAN } });
    await create(caller, "expense-report", { key: viewer });
    await watched("DELETE", `/keys/${granted.body.keyId}`, { key });
    await watched("DELETE", `/keys/${granted.body.keyId}`, { key });
    const definition = {
      id: "put",
      version: "1",
      name: "Put",
      schema: { type: "object" },
      destination: { kind: "store" },
    };
    await watched("PUT", "/intakes/put", { key, body: definition });
    await watched("PUT", "/intakes/put", { key, body: definition });
    await watched("PUT", "/intakes/put", { key, body: { ...definition, name: "Changed" } });
    await watched("PUT", "/intakes/put", { key, body: { ...definition, schema: 7 } });
    await watched("DELETE", "/intakes/put", { key });
    await watched("DELETE", "/intakes/put2", { key });
    await watched("POST", "/intakes/scene/submissions", { raw: "x".repeat(1_100_000) });
    await watched("POST", "/intakes/scene/submissions", { raw: "x", headers: { "content-type": "text/plain" } });
    await watched("GET", `/submissions/${id}/events?limit=1`, { key, headers: { accept: "application/x-ndjson" } });
    for (const [method, path, reply] of seen) expectDeclared(method, path, reply);
    const sentHeaders = new Set(seen.flatMap(([, , reply]) => describedHeaders(reply)));
    // A 405 belongs to no operation; limits have their own test.
    const elsewhere = ["Allow", "RateLimit", "RateLimit-Policy", "Retry-After"];
    expect(
      Object.keys(document.components.headers).filter((name) => !sentHeaders.has(name) && !elsewhere.includes(name)),
    ).toEqual([]);
    const statuses = new Set(seen.map(([, , { status }]) => status));
    expect([...statuses].sort()).toEqual([200, 201, 304, 400, 401, 403, 404, 409, 410, 413, 415, 422, 428, 503]);
  });

  it("[AUDIT-F23] the headers of limits are declared where they are sent", async () => {
    const limited = await startTestServer({
      store: "memory",
      env: { FORMBRIDGE_RATE_LIMIT: "on", FORMBRIDGE_RATE_CREATES_PER_ADDRESS: "1" },
    });
    try {
      const path = "/intakes/contact/submissions";
      const body = { actor: HUMAN };
      const taken = await limited.call("POST", path, { body });
      const refused = await limited.call("POST", path, { body });
      expect([taken.status, refused.status]).toEqual([201, 429]);
      expect(describedHeaders(taken)).toEqual(expect.arrayContaining(["RateLimit", "RateLimit-Policy"]));
      expect(describedHeaders(refused)).toContain("Retry-After");
      for (const reply of [taken, refused]) expectDeclared("POST", path, reply);
    } finally {
      await limited.stop();
    }
  });

  it("[RUNNING-OPENAPI-TRUE] health and readiness respond as declared, too", async () => {
    for (const path of ["/healthz", "/readyz"]) expectDeclared("GET", path, await server.call("GET", path));
  });

  it("[RUNNING-DOCS] the reference page is there and loads nothing from elsewhere", async () => {
    const response = await fetch(`${server.url}/docs`);
    const page = await response.text();
    expect(response.headers.get("content-type")).toContain("text/html");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/https?:|\*/);
    for (const [, source = ""] of page.matchAll(/(?:src|href)="([^"]+)"/g))
      expect(source).not.toMatch(/^(https?:)?\/\//);
    const script = /src="([^"]+)"/.exec(page)?.[1] ?? "";
    expect((await fetch(new URL(script, response.url))).status).toBe(200);
  });
});
