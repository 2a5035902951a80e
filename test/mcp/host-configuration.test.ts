/** The configurations in docs/get-started/agents.md, used as a host would. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tempFolder } from "../support/child.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { byUs, hostOf } from "../support/mcp.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/get-started/agents.md"), "utf8");
const folder = tempFolder();
let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startTestServer({ store: "memory" });
  key = await server.makeKey({ roles: ["agent"], actor: { kind: "agent", id: "copied" } });
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

/** The page's text, with its placeholders filled in. */
function configuration(name: string): Loose {
  const text = new RegExp(`<!-- host: ${name} -->\\n\`\`\`json\\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1] ?? "";
  const filled = text
    .replaceAll("/path/to/formbridge/.formbridge", folder.path)
    .replaceAll("/path/to/formbridge", ROOT)
    .replaceAll("http://127.0.0.1:3000", server.url)
    .replaceAll("fbk_…", key);
  return JSON.parse(filled).mcpServers.formbridge;
}

/** A host gives the command little more than this environment, and a folder of its choice. */
function transportOf({ command, args, env, url, headers }: Loose): Transport {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  // Another port than the page's, which somebody may be using.
  const surroundings = { ...env, PATH: process.env.PATH, FORMBRIDGE_PORT: "0" };
  return new StdioClientTransport({ command, args, env: surroundings, cwd: folder.path, stderr: "ignore" });
}

it.each([
  ["stdio", "local-agent"],
  ["bridge", "copied"],
  ["http", "copied"],
])(
  "[MCP-STDIO] the configuration for %s connects a host as it is written",
  { timeout: 120_000 },
  async (name, actor) => {
    const client = new Client(
      { name: "host", version: "1" },
      { versionNegotiation: { mode: "auto" }, jsonSchemaValidator: byUs },
    );
    // On a busy machine a process starts when it can.
    await client.connect(transportOf(configuration(name)), { timeout: 60_000 });
    const host = hostOf(client);
    const { submissionId } = await host.done("formbridge_expense-report_create", {});
    const read = await host.done("formbridge_expense-report_status", { submissionId });
    expect(read.lastUpdatedBy).toMatchObject({ kind: "agent", id: actor });
    await host.close();
  },
);
