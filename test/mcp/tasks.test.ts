import type { Client } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { bodyOf, connectMcp, done } from "../support/mcp-host.ts";

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const VERSION = "2026-07-28";
const STATUS = "formbridge_forms_status";
const DAY = 86_400_000;
let server: TestServer;
let client: Client;
let key: string;

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({ id: "forms" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "bot" } });
  client = await connectMcp(server, { key, capabilities: TASKS });
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

/** One request as it is on the wire. */
async function send(method: string, params: Loose, { by = key, capabilities = TASKS as object } = {}): Promise<Loose> {
  const { _meta, ...rest } = params;
  const meta = { ..._meta, "io.modelcontextprotocol/clientCapabilities": capabilities };
  const { headers, body } = rpcRequest(method, rest, meta);
  const name = params.name ?? params.taskId;
  return (await server.call("POST", "/mcp", { key: by, headers: { ...headers, "mcp-name": name }, body })).body;
}

const begin = (): Promise<Loose> => done(client, "formbridge_forms_create", {});
const write = (resumeToken: string): Promise<unknown> =>
  server.call("PATCH", `/resume/${resumeToken}/fields`, { key, body: { fields: { name: "Ada" } } });
const wait = (args: object): Promise<Loose> =>
  send("tools/call", { name: STATUS, arguments: { waitMs: 1000, ...args } });

it("[MCP-WAIT-TASK] a wait is a task that is done when the submission has changed", async () => {
  const { submissionId, resumeToken } = await begin();
  const { result: made } = await wait({ resumeToken });
  expect(made).toMatchObject({ resultType: "task", status: "working", ttlMs: DAY });
  expect(isCreateTaskResultV2(made)).toBe(true);
  expect(made.taskId).not.toContain(resumeToken);
  const { taskId } = made;
  for (let looks = 0; looks < 2; looks++) {
    const { result: task } = await send("tasks/get", { taskId });
    expect(task).toMatchObject({ resultType: "complete", taskId, status: "working", createdAt: made.createdAt });
    expect(isDetailedTaskV2(task)).toBe(true);
  }
  await write(resumeToken);
  const { result: over } = await send("tasks/get", { taskId });
  expect(isDetailedTaskV2(over)).toBe(true);
  expect(over).toMatchObject({ status: "completed" });
  expect(bodyOf(over.result)).toMatchObject({ ok: true, submissionId, version: 2, fields: { name: "Ada" } });
});

it("[MCP-WAIT-TASK] the official client of the extension follows such a task to its end", async () => {
  const { resumeToken } = await begin();
  const session = createTaskSessionFromClient(client, {
    endpointId: "forms",
    v2RequestFraming: {
      protocolVersion: VERSION,
      clientInfo: { name: "tasks", version: "1" },
      clientCapabilities: TASKS,
    },
    rawDispatch: async (request) => {
      const { method, params } = request as Loose;
      const { result, error } = await send(method, params);
      // The client would poll every few seconds; here it polls at once.
      if (result?.pollIntervalMs !== undefined) result.pollIntervalMs = 1;
      return error === undefined ? { kind: "result", result } : { kind: "error", error };
    },
  });
  const execution = await session.callTool(STATUS, { resumeToken, waitMs: 1000 });
  await write(resumeToken);
  const { outcome } = await execution.settle();
  expect(bodyOf(resultFromTaskOutcome(outcome))).toMatchObject({ ok: true, version: 2 });
  await session.close();
});

it("[MCP-WAIT-TASK] a change that already happened is returned at once, and so is a refusal", async () => {
  const { submissionId, resumeToken } = await begin();
  const { taskId } = (await wait({ submissionId })).result;
  await write(resumeToken);
  expect(bodyOf((await wait({ resumeToken })).result)).toMatchObject({ ok: true, version: 2 });
  expect(bodyOf((await wait({ submissionId, sinceVersion: 1 })).result)).toMatchObject({ ok: true, version: 2 });
  expect(bodyOf((await wait({ submissionId: "sub_x" })).result)).toMatchObject({ ok: false });
  await server.call("DELETE", `/submissions/${submissionId}`, { key, body: {} });
  expect((await send("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
});

it("[MCP-WAIT-TASK] a task is known only to its caller, for its lifetime, and to clients that support tasks", async () => {
  const { submissionId } = await begin();
  const { taskId } = (await wait({ submissionId })).result;
  const other = await server.makeKey({ roles: ["admin"], actor: { kind: "agent", id: "other" } });
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const params = { taskId, ...(method === "tasks/update" && { inputResponses: {} }) };
    expect((await send(method, { ...params, taskId: `${taskId.slice(0, -4)}AAAA` })).error).toMatchObject({
      code: -32602,
    });
    expect((await send(method, { ...params, taskId: "made-up" })).error).toMatchObject({ code: -32602 });
    expect((await send(method, params, { by: other })).error).toMatchObject({ code: -32602 });
    expect((await send(method, params, { capabilities: {} })).error).toMatchObject({ code: -32021 });
    expect((await send(method, params)).result).toMatchObject({ resultType: "complete" });
  }
  // A client without tasks waits on its connection.
  const args = { name: STATUS, arguments: { submissionId, waitMs: 1 } };
  expect(bodyOf((await send("tools/call", args, { capabilities: {} })).result)).toMatchObject({ ok: true, version: 1 });
  server.clock.advance(DAY + 1);
  expect((await send("tasks/get", { taskId })).error).toMatchObject({ code: -32602 });
});
