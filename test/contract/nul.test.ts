import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

interface Case {
  method: string;
  path: string;
}

/** Every path segment and query parameter of every endpoint, one at a time. */
function casesOf(paths: Record<string, Record<string, Loose>>): Case[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      (parameters as { name: string; in: string }[]).flatMap((parameter): Case[] => {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
          parameter.in === "path" && parameter.name === name ? "a%00b" : "sample",
        );
        if (parameter.in === "path") return [{ method: method.toUpperCase(), path: filled }];
        if (parameter.in !== "query") return [];
        return [{ method: method.toUpperCase(), path: `${filled}?${parameter.name}=a%00b` }];
      }),
    ),
  );
}

it("[AUDIT-F27] a NUL in any path segment or query value of any endpoint is a 400 or 404", async () => {
  const { body } = await server.call("GET", "/openapi.json");
  const cases = casesOf(body.paths);
  expect(cases.length).toBeGreaterThan(50);
  const wrong: string[] = [];
  for (const { method, path } of cases) {
    const hasBody = method !== "GET" && method !== "DELETE";
    const reply = await server.call(method, path, { key: server.adminKey, ...(hasBody && { body: {} }) });
    if (![400, 404].includes(reply.status)) wrong.push(`${method} ${path}: ${reply.status} ${reply.body.error?.type}`);
  }
  expect(wrong).toEqual([]);
});

it("[AUDIT-F27] a key id with a NUL does not exist, and so can't be revoked", async () => {
  const reply = await server.call("DELETE", "/keys/a%00b", { key: server.adminKey });
  expect(reply).toMatchObject({ status: 404, body: { ok: false, error: { type: "not_found" } } });
});
