import { DEFAULT_POLICY, type Operations } from "@formbridge/core";
import { createMcpBinding, type McpBinding } from "@formbridge/mcp";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Loose, TestServer } from "../support/harness.ts";
import { rpcRequest } from "../support/mcp.ts";
import { emptyServer } from "./scene.ts";

const SECRET = "disk of db-7.internal is gone";
const fails = (): never => {
  throw new Error(SECRET);
};
const logged: unknown[] = [];
let server: TestServer;
let binding: McpBinding;

beforeAll(async () => {
  server = await emptyServer();
  const { operations, sealer, now } = server.server.core;
  const broken: Partial<Operations> = { getIntake: fails, getSubmission: fails, openIntakes: fails };
  binding = await createMcpBinding({
    operations: { ...operations, ...broken },
    tools: "generic",
    policy: DEFAULT_POLICY,
    version: "1",
    seal: sealer,
    now,
    askTimeoutMs: 1_000,
    uploadOrigins: () => [],
    onError: (error) => logged.push(error),
  });
});
afterAll(async () => {
  await binding.close();
  await server.stop();
});

it.each([
  ["tools/list", {}],
  ["tools/call", { name: "formbridge_get_submission", arguments: { submissionId: "sub_1" } }],
  ["resources/list", {}],
  ["resources/read", { uri: "formbridge://intakes/any" }],
  ["resources/read", { uri: "formbridge://submissions/sub_1" }],
  ["prompts/get", { name: "fill_intake", arguments: { intakeId: "any" } }],
])("[MCP-OWN-MISTAKES] a bug of ours in %s is logged, and the caller gets no details", async (method, params) => {
  logged.length = 0;
  const { headers, body } = rpcRequest(method, params);
  const request = new Request("http://localhost/mcp", { method: "POST", headers });
  const response = await binding.fetch({ request, body, caller: { address: "127.0.0.1" } });
  const text = await response.text();
  expect(text).not.toContain(SECRET);
  const message: Loose = JSON.parse(text.split("data: ").at(-1) ?? "");
  expect(message.error).toMatchObject({ code: -32603, message: expect.stringContaining("logged") });
  expect(logged).toEqual([expect.objectContaining({ message: SECRET })]);
});
