/**
 * What a host does for a model, with the official client: starts a submission, looks at what is missing, adds it, submits.
 *
 *   node examples/agent.ts http://127.0.0.1:3000/mcp          over HTTP; the key, if any, in FORMBRIDGE_MCP_KEY
 *   node examples/agent.ts formbridge mcp                     over standard input and output of a command
 */
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [target = "http://127.0.0.1:3000/mcp", ...args] = process.argv.slice(2);
const { FORMBRIDGE_MCP_KEY: key, ...env } = process.env as Record<string, string>;

function connection(): Transport {
  if (!target.startsWith("http")) return new StdioClientTransport({ command: target, args, env });
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
}

const client = new Client({ name: "example-agent", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(connection());

/** Calls a tool, prints the response on one line, and returns what the next call needs. */
async function call(name: string, given: Record<string, unknown>): Promise<{ resumeToken: string }> {
  const { structuredContent } = await client.callTool({ name, arguments: given });
  process.stdout.write(`${JSON.stringify(structuredContent)}\n`);
  return structuredContent as { resumeToken: string };
}

const started = await call("formbridge_contact_create", { initialFields: { name: "Ada" } });
const filled = await call("formbridge_set_fields", {
  resumeToken: started.resumeToken,
  fields: { email: "ada@example.com", message: "Hello" },
});
// The same key for every retry of the same submit.
await call("formbridge_submit", { resumeToken: filled.resumeToken, idempotencyKey: `submit-${process.pid}` });
await client.close();
