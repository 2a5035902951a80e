import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { idempotencyKey } from "../support/moves.ts";
import { openStream } from "../support/sse.ts";

const folder = tempFolder();
const adminKey = `fbk_${"logs".repeat(10)}abc`;
const secrets = new Set<string>([adminKey]);
let server: ServerProcess;
let output: string;

/** A call whose secrets are collected: what is sent and what is returned. */
async function call(
  method: string,
  path: string,
  { body, headers = {} }: { body?: Loose; headers?: Record<string, string> } = {},
) {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  for (const [secret] of text.matchAll(/(?:rtok|fbk|sess)_[\w-]{43}/g)) secrets.add(secret);
  return {
    status: response.status,
    body: response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
  };
}

const actor = { kind: "agent", id: "bot" };
const admin = { authorization: `Bearer ${adminKey}` };
const key = (name: string): string => {
  const made = idempotencyKey(`key-${name}`);
  secrets.add(made);
  return made;
};

beforeAll(async () => {
  server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_ADMIN_KEY: adminKey,
    FORMBRIDGE_LOG_LEVEL: "trace",
  });
  await drive();
  output = (await server.stop().then(({ stdout, stderr }) => stdout + stderr)).toString();
});
afterAll(() => folder.remove());

/** Everything that a client does in a long day, mistakes included. */
async function drive(): Promise<void> {
  await call("PUT", "/intakes/private", {
    headers: admin,
    body: {
      id: "private",
      version: "1",
      name: "Private",
      access: "public",
      schema: {
        type: "object",
        properties: { name: { type: "string" }, ssn: { type: "string", maxLength: 12, "x-sensitive": true } },
        required: ["name"],
      },
      destination: { kind: "webhook", url: "https://hook.example/", secret: "whsec_very-secret-value" },
      approvalGates: [{ name: "check", reviewers: { roles: ["admin"] } }],
    },
  });
  secrets.add("whsec_very-secret-value").add("123-45-6789").add("987-65-4321-xx");
  const granted = await call("POST", "/keys", {
    headers: admin,
    body: { name: "bot", roles: ["agent", "reviewer"], actor },
  });
  const agent = { authorization: `Bearer ${granted.body.key}` };
  const made = await call("POST", "/intakes/private/submissions", {
    headers: { ...agent, "idempotency-key": key("create"), "x-request-id": "follow-me" },
    body: { initialFields: { ssn: "123-45-6789" } },
  });
  const token: string = made.body.resumeToken;
  const path = `/submissions/${made.body.submissionId}`;
  await call("POST", "/intakes/private/submissions", {
    headers: { ...agent, "idempotency-key": key("create") },
    body: { initialFields: { ssn: "x" } },
  });
  const set = await call("PATCH", `/resume/${token}/fields`, {
    body: { actor, fields: { name: "Ada", ssn: "987-65-4321-xx" }, idempotencyKey: key("set") },
  });
  await call("PATCH", `/resume/${token}/fields`, {
    body: { actor, fields: { name: "Ada", ssn: "987-65-4321-xx" }, idempotencyKey: key("set") },
  });
  await call("PATCH", `${path}/fields`, {
    headers: { "if-match": `"${token}"` },
    body: { actor, fields: { name: "Stale" } },
  });
  await handOver(set.body.resumeToken, path);
  await overMcp(set.body.resumeToken, agent);
  await call("PATCH", `${path}/fields`, {
    headers: { "if-match": `"v2-${set.body.resumeToken}"` },
    body: '{"actor": {"kind": "agent", "id": "bot"}, "resumeToken": "',
  });
  await call("GET", `/resume/${set.body.resumeToken}?surprise=${set.body.resumeToken}`);
  await call("GET", `/nothing/${set.body.resumeToken}?key=${adminKey}`);
  await call("POST", `/resume/${set.body.resumeToken}`, { body: {} });
  await call("GET", `/resume/${set.body.resumeToken}/%zz`);
  await call("GET", "/submissions", { headers: { authorization: `Basic ${adminKey}` } });
  await call("GET", "/submissions", { headers: { authorization: `Bearer ${adminKey}x` } });
  // A client that takes one UUID for both headers, and one that names what it has in its user agent.
  const both = key("request-id");
  const agentWith = {
    ...agent,
    "idempotency-key": both,
    "x-request-id": both,
    "user-agent": `bot/1 ${granted.body.key}`,
  };
  await call("POST", "/intakes/private/submissions", { headers: agentWith, body: {} });
  await call("GET", path, { headers: { ...agent, "x-request-id": `for-${token}` } });
  const unknown = `rtok_${"unknown".repeat(7).slice(0, 43)}`;
  secrets.add(unknown);
  for (let guess = 0; guess < 15; guess++) await call("GET", `/resume/${unknown}`);
  const stream = await openStream(`${server.url}${path}/events?stream=all`, agent);
  await stream.take(3);
  await stream.close();
  const current = await call("GET", path, { headers: agent });
  const mended = await call("PATCH", `/resume/${current.body.resumeToken}/fields`, {
    body: { actor, fields: { ssn: null } },
  });
  await call("POST", `/resume/${mended.body.resumeToken}/submit`, { body: { actor, idempotencyKey: key("submit") } });
  await call("POST", `${path}/review`, { headers: admin, body: { decision: "approved" } });
  await call("POST", `${path}/tokens/reissue`, { headers: admin, body: { reason: "lost" } });
  await call("DELETE", path, { headers: admin, body: { reason: "over" } });
  await call("DELETE", `/keys/${granted.body.keyId}`, { headers: admin });
  const { port } = new URL(server.url);
  await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { "x-long": `${adminKey}${"x".repeat(20_000)}` } });
}

/** A link, a session in header and cookie, and their errors. */
async function handOver(token: string, path: string): Promise<void> {
  const { body: made } = await call("POST", `/resume/${token}/handoffs`, {
    body: { actor, message: "a private word" },
  });
  secrets.add("a private word").add("K7QF2M9XAB");
  const link = new URL(made.url);
  await call("GET", link.pathname + link.search);
  const exchange = { session: link.searchParams.get("session"), carrier: "header" };
  const opened = await call("POST", `${path}/sessions`, { body: exchange });
  const cookie = { cookie: `formbridge_session=${opened.body.session}` };
  await call("GET", path, { headers: { authorization: `Bearer ${opened.body.session}` } });
  await call("PATCH", `${path}/fields`, { headers: cookie, body: { fields: {}, version: 2 } });
  await call("GET", `${path}?surprise=${opened.body.session}`, { headers: cookie });
  await call("POST", `${path}/sessions`, { body: { code: "K7QF2M9XAB", email: "jane@example.com" } });
  await call("GET", `${path.replace("submissions", "resume")}?code=K7QF2M9XAB`);
}

/** The same secrets in tool calls and resources, well-formed and not. */
async function overMcp(token: string, agent: Record<string, string>): Promise<void> {
  const ask = (method: string, params: Loose) => {
    const { headers, body } = rpcRequest(method, params);
    return call("POST", "/mcp", { headers: { ...headers, ...agent }, body });
  };
  const tool = (suffix: string, args: Loose) =>
    ask("tools/call", { name: `formbridge_private_${suffix}`, arguments: args });
  await tool("create", { idempotencyKey: key("mcp"), initialFields: { ssn: "123-45-6789" } });
  await tool("status", { resumeToken: token });
  await tool("set", { resumeToken: token, fields: token });
  await tool("set", { resumeToken: `${token}x`, fields: {}, idempotencyKey: key("mcp-set") });
  await tool(token, {});
  await ask("resources/read", { uri: `formbridge://submissions/${token}` });
  await ask("resources/read", { uri: `formbridge://submissions/${token}/nothing` });
  await ask("prompts/get", { name: "continue_submission", arguments: { resumeToken: token } });
  await ask(token, {});
  const { headers } = rpcRequest("tools/list");
  await call("POST", "/mcp", { headers: { ...headers, "mcp-name": token }, body: `{"${token}"` });
}

it("[RUNNING-LOGS-NO-SECRETS] [MCP-SECRETS] at trace level, no token, key or sensitive value is in the log", () => {
  expect(secrets.size).toBeGreaterThan(12);
  for (const secret of secrets) {
    expect(output.includes(secret), `the log has ${secret.slice(0, 12)}…`).toBe(false);
    expect(output.includes(secret.slice(0, 20)), `the log has the start of ${secret.slice(0, 12)}…`).toBe(false);
  }
  expect(output).not.toMatch(/(rtok|fbk|sess)_[\w-]{12,}/);
});

it("[RUNNING-LOGS-REQUESTS] the log has each request with method, route, status and request id", () => {
  const lines = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const answered = lines.filter((line) => typeof line.status === "number" && typeof line.method === "string");
  expect(answered.length).toBeGreaterThan(20);
  expect(answered).toContainEqual(
    expect.objectContaining({
      method: "POST",
      route: expect.stringContaining("/intakes/:intakeId/submissions"),
      status: 201,
    }),
  );
  expect(JSON.stringify(answered.find((line) => JSON.stringify(line).includes("follow-me")))).toContain("201");
});
