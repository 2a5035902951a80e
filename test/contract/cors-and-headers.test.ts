import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { AGENT, create, created, parseRaw, sendRaw, setFields } from "../support/moves.ts";

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ store: "memory" });
  await server.putIntake({ id: "forms" });
  token = (await created(server, "forms")).resumeToken;
});
afterAll(() => server.stop());

const listOf = (header: string | undefined): string[] =>
  (header ?? "").split(",").map((part) => part.trim().toLowerCase());
const ORIGIN = { origin: "https://app.example" };

describe("pages of other origins", () => {
  it("[RUNNING-CORS] a preflight allows the methods and the request headers of the contract", async () => {
    const wanted = [
      "authorization",
      "content-type",
      "if-match",
      "if-none-match",
      "idempotency-key",
      "last-event-id",
      "prefer",
      "x-intake-version",
      "x-idempotency-ttl",
      "x-request-id",
    ];
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const reply = await server.call("OPTIONS", `/resume/${token}`, {
        headers: {
          ...ORIGIN,
          "access-control-request-method": method,
          "access-control-request-headers": wanted.join(","),
        },
      });
      expect(reply.status).toBe(204);
      expect(listOf(reply.headers["access-control-allow-methods"])).toContain(method.toLowerCase());
      expect(listOf(reply.headers["access-control-allow-headers"])).toEqual(expect.arrayContaining(wanted));
      expect(reply.headers["access-control-allow-origin"]).toBe("*");
      expect(reply.headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  it("[RUNNING-CORS] every response, also a refusal, may be read by any origin, without credentials", async () => {
    for (const reply of [
      await create(server, "forms", { headers: ORIGIN }),
      await server.call("GET", `/resume/${token}`, { headers: ORIGIN }),
      await server.call("GET", `/resume/${token}/events`, { headers: { ...ORIGIN, accept: "application/x-ndjson" } }),
      await server.call("GET", "/submissions", { headers: ORIGIN }),
      await server.call("GET", "/nothing", { headers: ORIGIN }),
      await server.call("PATCH", `/resume/${token}/fields`, { headers: ORIGIN, raw: "{" }),
    ]) {
      expect(reply.headers["access-control-allow-origin"]).toBe("*");
      expect(reply.headers).not.toHaveProperty("access-control-allow-credentials");
      expect(reply.headers).not.toHaveProperty("set-cookie");
    }
  });

  it("[RUNNING-CORS-EXPOSED] a page may read every response header of the contract", async () => {
    const reply = await server.call("GET", `/resume/${token}`, { headers: ORIGIN });
    expect(listOf(reply.headers["access-control-expose-headers"])).toEqual(
      expect.arrayContaining([
        "etag",
        "x-resume-token",
        "x-intake-version",
        "x-submission-version",
        "last-modified",
        "x-request-id",
        "idempotent-replayed",
        "x-original-request-time",
        "retry-after",
      ]),
    );
  });
});

describe("every response", () => {
  it("[RUNNING-REQUEST-ID] an id is echoed, or generated for each request", async () => {
    const made = new Set<string | undefined>();
    for (const [method, path] of [
      ["GET", "/healthz"],
      ["GET", `/resume/${token}`],
      ["GET", "/submissions"],
      ["GET", "/nothing"],
      ["POST", "/intakes/forms/submissions"],
    ] as const) {
      const echoed = await server.call(method, path, { headers: { "x-request-id": "trace-42.a:b" } });
      expect(echoed.headers["x-request-id"]).toBe("trace-42.a:b");
      const fresh = await server.call(method, path);
      expect(fresh.headers["x-request-id"]).toMatch(/\S+/);
      made.add(fresh.headers["x-request-id"]);
    }
    expect(made.size).toBe(5);
  });

  it("[RUNNING-REQUEST-ID] an id that could break a log or a header is replaced", async () => {
    for (const bad of ["x".repeat(5000), 'a"b', "a b", "<script>", ""]) {
      const reply = await server.call("GET", "/healthz", { headers: { "x-request-id": bad } });
      expect(reply.headers["x-request-id"]).not.toBe(bad);
      expect(reply.headers["x-request-id"]).toMatch(/^[\w.:-]{1,128}$/);
    }
  });

  it("[RUNNING-REQUEST-ID] requests refused by the HTTP parser have an id, too", async () => {
    const answer = await sendRaw(server.url, `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(parseRaw(answer).headers["x-request-id"]).toMatch(/\S+/);
  });

  it("[RUNNING-NO-STORE] responses about submissions, intakes and keys may not be cached", async () => {
    const key = server.adminKey;
    for (const reply of [
      await create(server, "forms"),
      await server.call("GET", `/resume/${token}`),
      await server.call("GET", `/resume/${token}/events`),
      await server.call("GET", "/submissions", { key }),
      await server.call("GET", "/keys", { key }),
      await server.call("GET", "/intakes/forms"),
      await server.call("GET", "/submissions"),
      await server.call("GET", `/resume/rtok_${"A".repeat(43)}`),
    ]) {
      expect(reply.headers["cache-control"]).toBe("no-store");
    }
  });
});

describe("over a connection that others can read", () => {
  const elsewhere = "203.0.113.7";
  const ask = (
    app: TestServer["server"]["app"],
    request: { method?: "GET" | "POST" | "PATCH"; url: string; headers?: Record<string, string>; payload?: object },
  ) => app.inject({ method: "GET", remoteAddress: elsewhere, ...request });

  it("[RUNNING-CLEAR-TEXT] tokens and keys are refused in any position, and nothing happens", async () => {
    const { app } = server.server;
    const made = await created(server, "forms");
    const path = `/submissions/${made.submissionId}/fields`;
    const payload = { actor: AGENT, fields: { name: "x" } };
    const replies = [
      await ask(app, { url: `/resume/${made.resumeToken}` }),
      await ask(app, { url: `/submissions/${made.resumeToken}` }),
      await ask(app, { url: `/resume/${made.resumeToken.replace("_", "%5F")}` }),
      await ask(app, { method: "PATCH", url: path, payload, headers: { "if-match": made.resumeToken } }),
      await ask(app, { method: "PATCH", url: path, payload: { ...payload, resumeToken: made.resumeToken } }),
      await ask(app, { url: "/submissions", headers: { authorization: `Bearer ${server.adminKey}` } }),
      await ask(app, {
        url: "/submissions",
        headers: {
          authorization: `Bearer ${server.adminKey}`,
          "x-forwarded-for": "127.0.0.1",
          "x-forwarded-proto": "https",
        },
      }),
    ];
    for (const reply of replies) expect([reply.statusCode, reply.json().error.type]).toEqual([403, "forbidden"]);
    expect((await server.call("GET", `/resume/${made.resumeToken}`)).body.version).toBe(1);
    expect((await ask(app, { url: "/healthz" })).statusCode).toBe(200);
    for (const loopback of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
      const reply = await app.inject({ method: "GET", url: `/resume/${made.resumeToken}`, remoteAddress: loopback });
      expect(reply.statusCode).toBe(200);
    }
  });

  it("[RUNNING-CLEAR-TEXT] behind a declared TLS proxy they are accepted", async () => {
    const proxied = await startTestServer({ store: "memory", env: { FORMBRIDGE_TRUST_PROXY: "1" } });
    await proxied.putIntake({ id: "forms" });
    const made = await created(proxied, "forms");
    const reply = await ask(proxied.server.app, { url: `/resume/${made.resumeToken}` });
    expect(reply.statusCode).toBe(200);
    expect((await setFields(proxied, made.resumeToken, { name: "Ada" })).status).toBe(200);
    await proxied.stop();
  });
});

describe("health", () => {
  it("[RUNNING-HEALTHZ] [RUNNING-READYZ] up and ready, each store with its latency", async () => {
    const real = await startTestServer();
    const up = await real.call("GET", "/healthz");
    expect([up.status, up.body.ok]).toEqual([200, true]);
    const ready = await real.call("GET", "/readyz");
    expect([ready.status, ready.body.ok]).toEqual([200, true]);
    const stores = Object.values(ready.body.stores);
    expect(stores.length).toBeGreaterThan(0);
    for (const store of stores) expect(store).toMatchObject({ healthy: true, latencyMs: expect.any(Number) });
    await real.server.core.backend.close();
    const gone = await real.call("GET", "/readyz");
    expect([gone.status, gone.body.ok]).toEqual([503, false]);
    expect(Object.values(gone.body.stores)).toContainEqual(expect.objectContaining({ healthy: false }));
    expect((await real.call("GET", "/healthz")).status).toBe(200);
    await real.stop();
  });
});
