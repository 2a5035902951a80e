import {
  type CallToolResult,
  Client,
  type ClientCapabilities,
  type ElicitRequestParams,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Loose, TestServer } from "./harness.ts";
import { byUs, type Host, hostOf } from "./mcp.ts";

export interface McpHostOptions {
  key?: string;
  /** Uses a revision before 2026-07-28. */
  old?: boolean;
  capabilities?: ClientCapabilities;
  /** How the host's user responds to a question. */
  onElicit?: (params: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>;
}

/** A host with the official client, over HTTP. */
export async function connectMcp(server: TestServer, options: McpHostOptions = {}): Promise<Client> {
  const { key, old = false, onElicit } = options;
  const capabilities = { ...(onElicit && { elicitation: { form: {}, url: {} } }), ...options.capabilities };
  const client = new Client(
    { name: "test-host", version: "1" },
    { capabilities, jsonSchemaValidator: byUs, versionNegotiation: { mode: old ? "legacy" : { pin: "2026-07-28" } } },
  );
  if (onElicit !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => onElicit(params));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
    }),
  );
  return client;
}

/** The envelope in a result. */
export const bodyOf = (result: unknown): Loose => (result as CallToolResult).structuredContent;

const hosts = new WeakMap<Client, Host>();

/** Calls a tool, and expects success and a result that matches the tool's output schema. */
export async function done(client: Client, name: string, args: Record<string, unknown>): Promise<Loose> {
  const host = hosts.get(client) ?? hostOf(client);
  hosts.set(client, host);
  return await host.done(name, args);
}
