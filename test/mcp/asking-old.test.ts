import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailbox } from "../support/handoffs.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";
import { connectOldMcp } from "../support/mcp-pipe.ts";

const mailbox = createMailbox();
let server: TestServer;
let key: string;
const clients: Client[] = [];

beforeAll(async () => {
  server = await startTestServer({ mailer: mailbox, env: { FORMBRIDGE_MCP_ASK_TIMEOUT_MS: "200" } });
  await server.putIntake({ id: "forms" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

type Elicit = (params: ElicitRequest["params"]) => ElicitResult | Promise<ElicitResult>;

async function hostThat(onElicit?: Elicit): Promise<Client> {
  const client = await connectOldMcp(server, { key, ...(onElicit && { onElicit }) });
  clients.push(client);
  return client;
}

async function call(client: Client, suffix: string, args: Record<string, unknown>): Promise<Loose> {
  return bodyOf(await client.callTool({ name: `formbridge_forms_${suffix}`, arguments: args }));
}

it("[MCP-ASK] [MCP-HANDOFF-LINK] on an open connection the server asks on its own, and sets the answers", async () => {
  const asked: unknown[] = [];
  const client = await hostThat((params) => {
    asked.push(params);
    return { action: "accept", content: { name: "Ada" } };
  });
  const { resumeToken, submissionId } = await call(client, "create", {});
  const body = await call(client, "handoff", { resumeToken, ask: ["name"] });
  expect(asked).toMatchObject([{ requestedSchema: { properties: { name: { type: "string" } } } }]);
  expect(body).toMatchObject({ ok: true, version: 2, url: expect.any(String), asked: { action: "accept" } });
  expect(await call(client, "status", { submissionId })).toMatchObject({ version: 2, fields: { name: "Ada" } });
});

it("[MCP-ASK-DECLINED] [MCP-HANDOFF-LINK] a host that declines, fails or never replies costs nothing: the link is still returned", async () => {
  const never = new Promise<never>(() => {});
  for (const [reply, action] of [
    [() => ({ action: "decline" }), "decline"],
    [() => ({ action: "cancel" }), "cancel"],
    [() => Promise.reject(new Error("no window")), "unanswered"],
    [() => never, "unanswered"],
    [undefined, "unavailable"],
  ] as [Elicit | undefined, string][]) {
    const client = await hostThat(reply);
    const { resumeToken } = await call(client, "create", { initialFields: { note: "kept" } });
    const body = await call(client, "handoff", { resumeToken, ask: ["name"] });
    expect(body).toMatchObject({ ok: true, version: 1, url: expect.any(String), asked: { how: "form", action } });
    expect(await call(client, "status", { resumeToken })).toMatchObject({ version: 1, fields: { note: "kept" } });
  }
});

it("[MCP-HANDOFF-URL] on an open connection the page of a code is offered too, and lost offers leave the link", async () => {
  const asked: Loose[] = [];
  const accepting = await hostThat((params) => {
    asked.push(params);
    return { action: "accept" };
  });
  const failing = await hostThat(() => Promise.reject(new Error("no window")));
  for (const [client, action] of [
    [accepting, "accept"],
    [failing, "unanswered"],
  ] as const) {
    const { resumeToken, submissionId } = await call(client, "create", {});
    const body = await call(client, "handoff", { resumeToken, kind: "magic_link", recipientEmail: "a@example.com" });
    const url = `${server.url}/resume/${submissionId}?code=`;
    expect(body).toMatchObject({ ok: true, url, asked: { how: "url", action } });
  }
  expect(asked).toMatchObject([{ mode: "url", url: expect.stringMatching(/\?code=$/) }]);
});

it("[MCP-HANDOFF-LINK] over HTTP an older host can't be asked in a call, and gets the link", async () => {
  let asked = 0;
  const onElicit = () => {
    asked++;
    return { action: "accept" as const, content: { name: "Ada" } };
  };
  const client = await connectMcp(server, { key, old: true, onElicit });
  const { resumeToken } = await done(client, "formbridge_forms_create", {});
  const body = await done(client, "formbridge_forms_handoff", { resumeToken, ask: ["name"] });
  expect(body).toMatchObject({ version: 1, url: expect.any(String), asked: { action: "unavailable" } });
  expect(asked).toBe(0);
  await client.close();
});

it("[MCP-WAIT] [MCP-WAIT-PROGRESS] [MCP-WAIT-LEFT] on an open connection a wait reports progress, and ends when it is cancelled", async () => {
  const client = await hostThat();
  const { resumeToken, submissionId } = await call(client, "create", {});
  const gone = new AbortController();
  const told = Promise.withResolvers<void>();
  const args = { name: "formbridge_forms_status", arguments: { submissionId, waitMs: 25_000 } };
  const options = { onprogress: () => told.resolve(), signal: gone.signal };
  const waiting = expect(client.callTool(args, undefined, options)).rejects.toThrow();
  await told.promise;
  gone.abort();
  await waiting;
  const next = Promise.withResolvers<void>();
  const again = client.callTool(args, undefined, { onprogress: () => next.resolve() });
  await next.promise;
  await server.call("PATCH", `/resume/${resumeToken}/fields`, { key, body: { fields: { name: "Ada" } } });
  expect(bodyOf(await again)).toMatchObject({ version: 2 });
});
