import { afterAll, beforeAll, expect, it } from "vitest";
import { putIntakes } from "../scenarios/intakes.ts";
import { startTestServer, type TestServer } from "../support/harness.ts";
import { inspect } from "../support/inspector.ts";
import type { Era } from "../support/mcp-clients.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_MCP_TOOLS: "intake" } });
  await putIntakes(server);
});
afterAll(() => server.stop());

const run = (era: Era, ...options: string[]) => inspect([`${server.url}/mcp`], era, options);

it.each(["new", "old"] as const)(
  "[MCP-CONFORMS] the official inspector finds nothing to complain of in the tools, by the %s protocol",
  async (era) => {
    const { code, result, errors } = await run(era, "--method", "tools/list", "--strict");
    expect({ code, errors, findings: result.schemaFindings }).toEqual({ code: 0, errors: "", findings: undefined });
    expect(result.result.tools.length).toBeGreaterThan(40);
  },
);

it("[MCP-CONFORMS] the official inspector finds nothing to complain of in the tools for all intakes", async () => {
  const other = await startTestServer({ env: { FORMBRIDGE_MCP_TOOLS: "generic" } });
  try {
    const { code, errors } = await inspect([`${other.url}/mcp`], "new", ["--method", "tools/list", "--strict"]);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
  } finally {
    await other.stop();
  }
});

it("[MCP-RESOURCES] [MCP-PROMPTS] the official inspector calls a tool, reads a resource and gets a prompt", async () => {
  const args = JSON.stringify({ initialFields: { company: "Acme" } });
  const tool = ["--tool-name", "formbridge_supplier_create", "--tool-args-json", args];
  const [called, read, prompt] = await Promise.all([
    run("old", "--method", "tools/call", ...tool),
    run("new", "--method", "resources/read", "--uri", "formbridge://intakes/supplier/schema"),
    run("new", "--method", "prompts/get", "--prompt-name", "fill_intake", "--prompt-args", "intakeId=supplier"),
  ]);
  expect(called.result.result, called.errors).toMatchObject({ structuredContent: { ok: true, state: "in_progress" } });
  expect(JSON.stringify(read.result), read.errors).toContain("As in the register.");
  expect(JSON.stringify(prompt.result), prompt.errors).toContain("formbridge_supplier_create");
});
