import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { type Host, rpcRequest } from "../support/mcp.ts";
import { record } from "../support/submissions.ts";
import { type Scene, startScene } from "./scene.ts";

let scene: Scene;
let server: TestServer;
let anybody: Host;
beforeAll(async () => {
  scene = await startScene();
  ({ server, anybody } = scene);
});
afterAll(() => scene.stop());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  server.call("POST", "/mcp", {
    ...(typeof body === "string" || Buffer.isBuffer(body) ? { raw: body } : { body }),
    headers: { accept: "application/json, text/event-stream", ...headers },
  });

describe("JSON-RPC that is none", () => {
  it.each([
    ["no JSON", "{", 400, -32700],
    ["broken UTF-8", Buffer.from([0x22, 0xff, 0x22]), 400, -32700],
    ["an empty object", {}, 400, undefined],
    ["a number", "7", 400, undefined],
    ["no method", { jsonrpc: "2.0", id: 1 }, 400, undefined],
    ["another version", { jsonrpc: "1.0", id: 1, method: "tools/list" }, 400, undefined],
    [
      "a name that reaches a prototype",
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"__proto__":1}}',
      400,
      -32700,
    ],
    [
      "a number that would be rounded",
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/list"}',
      400,
      -32700,
    ],
    ["nesting without end", `${"[".repeat(200)}${"]".repeat(200)}`, 400, -32700],
  ])("[MCP-MALFORMED] %s is an error of the protocol", async (_what, body, status, code) => {
    const reply = await post(body);
    expect(reply.status).toBe(status);
    expect(reply.body).toMatchObject({ jsonrpc: "2.0", error: { code: code ?? expect.any(Number) } });
  });

  it("[MCP-MALFORMED] a body over the limit is a 413", async () => {
    const reply = await post({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { x: "x".repeat(1_100_000) } });
    expect(reply.status).toBe(413);
    expect(reply.body.error.data.error.type).toBe("payload_too_large");
  });

  it("[MCP-MALFORMED] a body of another type is a 415", async () => {
    const reply = await post("method=tools/list", { "content-type": "application/x-www-form-urlencoded" });
    expect(reply.status).toBe(415);
    expect(reply.body.jsonrpc).toBe("2.0");
  });

  it("[MCP-MALFORMED] a batch is served where its revision has batches, and never in the newest", async () => {
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: aCreate });
    const old = await post([call(1), call(2)], { "mcp-protocol-version": "2025-03-26" });
    const answers = String(old.body)
      .split("\n")
      .filter((line) => line.startsWith("data: {"));
    expect(answers).toHaveLength(2);
    const { headers, body } = rpcRequest("tools/call", aCreate);
    const modern = await server.call("POST", "/mcp", { headers, body: [body, body] });
    expect(modern.status).toBe(400);
    expect(modern.body.error.code).toBeLessThan(0);
  });

  it("[MCP-MALFORMED] a batch can't request a thousand lists", async () => {
    const many = Array.from({ length: 1000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }));
    const reply = await post(many, { "mcp-protocol-version": "2025-03-26" });
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: -32600 });
  });

  it("[MCP-MALFORMED] a batch asks for a list once", async () => {
    const ask = (id: number, method: string) => ({ jsonrpc: "2.0", id, method });
    const old = { "mcp-protocol-version": "2025-03-26" };
    const twice = await post([ask(1, "tools/list"), ask(2, "tools/list")], old);
    expect({ status: twice.status, code: twice.body.error?.code }).toEqual({ status: 400, code: -32600 });
    expect((await post([ask(1, "tools/list"), ask(2, "prompts/list")], old)).status).toBe(200);
  });

  it.each([1.5, 1e21])("[MCP-MALFORMED] the id %d is refused, however plain the request is", async (id) => {
    for (const type of ["application/json", "application/json; charset=utf-8"]) {
      const { headers, body } = rpcRequest("tools/call", aCreate);
      const sent = { headers: { ...headers, "content-type": type }, raw: JSON.stringify({ ...body, id }) };
      const reply = await server.call("POST", "/mcp", sent);
      expect({ status: reply.status, code: reply.body.error?.code }).toEqual({ status: 400, code: -32600 });
    }
  });

  it("[MCP-MALFORMED] unknown methods, wrong params and headers that contradict the body are refused", async () => {
    const odd = async (method: string, params: Loose, headers: Loose = {}) => {
      const made = rpcRequest(method, params);
      return (await server.call("POST", "/mcp", { headers: { ...made.headers, ...headers }, body: made.body })).body
        .error;
    };
    expect((await odd("tools/destroy", {})).code).toBe(-32601);
    expect((await odd("tools/call", { name: 7 })).code).toBeLessThan(0);
    expect((await odd("tools/call", { ...aCreate, arguments: [] })).code).toBe(-32602);
    expect((await odd("tools/call", aCreate, { "mcp-name": "formbridge_trip_plan_set" })).code).toBe(-32020);
    expect((await odd("tools/call", aCreate, { "mcp-method": "tools/list" })).code).toBe(-32020);
    expect((await odd("tools/call", aCreate, { "mcp-protocol-version": "2025-11-25" })).code).toBe(-32020);
  });

  it("[MCP-MALFORMED] GET and DELETE, which need a session, are not allowed", async () => {
    for (const method of ["GET", "DELETE"]) {
      const reply = await server.call(method, "/mcp", { headers: { accept: "text/event-stream" } });
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toBe("POST");
    }
    const reply = await server.call("PUT", "/mcp", { body: {} });
    expect({ status: reply.status, form: reply.body.jsonrpc }).toEqual({ status: 405, form: "2.0" });
  });
});

const aCreate = { name: "formbridge_trip_plan_create", arguments: { initialFields: { to: "Rome" } } };

describe("Host and Origin", () => {
  /** fetch sends no Host but its own. */
  const knock = (headers: Record<string, string>): Promise<{ status: number; body: Loose }> =>
    new Promise((resolve, reject) => {
      const made = rpcRequest("tools/call", aCreate);
      const { hostname, port } = new URL(server.url);
      const sent = httpRequest(
        { hostname, port, path: "/mcp", method: "POST", headers: { ...made.headers, ...headers } },
        (reply) => {
          let text = "";
          reply.on("data", (part) => {
            text += part;
          });
          reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(text) }));
        },
      );
      sent.on("error", reject);
      sent.end(JSON.stringify(made.body));
    });

  it.each([
    { host: "evil.example" },
    { host: "127.0.0.1.evil.example" },
    { host: "localhost:3000@evil.example" },
    { host: "evil.example@localhost" },
    { host: "localhost/.evil.example" },
    { host: "localhost#.evil.example" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:1" },
    { host: "localhost", origin: "http://localhost.evil.example" },
  ])("[MCP-DOOR] %o is refused", async (headers) => {
    const { status, body } = await knock(headers as Record<string, string>);
    expect(status).toBe(403);
    expect(body).toMatchObject({ jsonrpc: "2.0", error: { data: { error: { type: "forbidden" } } } });
  });

  it.each([{ host: "localhost" }, { host: "LOCALHOST:8080" }, { host: "127.0.0.1" }, { host: "[::1]:3000" }])(
    "[MCP-DOOR] %o is ours",
    async (headers) => {
      expect((await knock(headers)).status).toBe(200);
    },
  );
});

describe("a client whose name can't be stored", () => {
  it("[MCP-ACTOR] is named without half a character", async () => {
    const clientInfo = { name: `${"x".repeat(199)}😀`, version: "1" };
    const made = rpcRequest("tools/call", aCreate, { "io.modelcontextprotocol/clientInfo": clientInfo });
    const { body } = await server.call("POST", "/mcp", made);
    const { createdBy } = await record(server, body.result.structuredContent.submissionId);
    expect(createdBy.id.isWellFormed()).toBe(true);
  });
});

describe("a client that disappears", () => {
  it("[MCP-GONE] leaves a call that was executed or not, and its key shows which", async () => {
    const args = { initialFields: { to: "Rome" }, idempotencyKey: `gone-${"k".repeat(32)}` };
    const made = rpcRequest("tools/call", { name: aCreate.name, arguments: args });
    const { hostname, port } = new URL(server.url);
    await new Promise<void>((resolve) => {
      const sent = httpRequest({ hostname, port, path: "/mcp", method: "POST", headers: made.headers });
      sent.on("error", () => {});
      sent.on("close", () => resolve());
      sent.end(JSON.stringify(made.body), () => sent.destroy());
    });
    const { submissionId } = await anybody.done(aCreate.name, args);
    expect(await record(server, submissionId)).toMatchObject({ version: 1, fields: { to: "Rome" } });
    const list = await server.call("GET", "/submissions?intakeId=trip_plan&limit=1000", { key: server.adminKey });
    const same = list.body.items.filter((item: Loose) => item.submissionId === submissionId);
    expect(same).toHaveLength(1);
  });

  it("[MCP-GONE] in the middle of its request has called nothing", async () => {
    const before = await server.call("GET", "/submissions?intakeId=trip_plan&limit=1000", { key: server.adminKey });
    const made = rpcRequest("tools/call", aCreate);
    const { hostname, port } = new URL(server.url);
    const text = JSON.stringify(made.body);
    await new Promise<void>((resolve) => {
      const headers = { ...made.headers, "content-length": String(text.length) };
      const sent = httpRequest({ hostname, port, path: "/mcp", method: "POST", headers });
      sent.on("error", () => {});
      sent.on("close", () => resolve());
      sent.write(text.slice(0, 40), () => sent.destroy());
    });
    const after = await server.call("GET", "/submissions?intakeId=trip_plan&limit=1000", { key: server.adminKey });
    expect(after.body.items.length).toBe(before.body.items.length);
  });
});

describe("older revisions, by hand", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26"])("[MCP-REVISIONS] %s begins with initialize", async (revision) => {
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: "old", version: "1" } },
    };
    const read = ({ body }: { body: unknown }) =>
      JSON.parse(/data: (.*)/.exec(String(body))?.[1] ?? JSON.stringify(body));
    const hello = await post(initialize);
    expect(read(hello).result).toMatchObject({ protocolVersion: revision, serverInfo: { name: "formbridge" } });
    expect(hello.headers["mcp-session-id"]).toBeUndefined();
    const versioned = { "mcp-protocol-version": revision };
    const noted = await post({ jsonrpc: "2.0", method: "notifications/initialized" }, versioned);
    expect(noted.status).toBe(202);
    const listed = read(await post({ jsonrpc: "2.0", id: 2, method: "tools/list" }, versioned));
    expect(listed.result.tools.length).toBeGreaterThan(0);
    const called = read(await post({ jsonrpc: "2.0", id: 3, method: "tools/call", params: aCreate }, versioned));
    expect(called.result.structuredContent).toMatchObject({ ok: true, version: 1 });
    expect(called.result.resultType).toBeUndefined();
  });

  it("[MCP-REVISIONS] server/discover names what is served", async () => {
    const { headers, body } = rpcRequest("server/discover");
    const { result } = (await server.call("POST", "/mcp", { headers, body })).body;
    expect(result).toMatchObject({ supportedVersions: ["2026-07-28"], resultType: "complete" });
    expect(result.capabilities).toMatchObject({ tools: { listChanged: true }, resources: {}, prompts: {} });
  });
});
