import { createBody, type Requests, setFieldsBody, withBody, withKey } from "./requests.ts";

const PROTOCOL = "2026-07-28";
/** What each request of this revision says about its client. */
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": PROTOCOL,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

let id = 0;

interface Params {
  name?: string;
  arguments?: object;
  cursor?: string;
}

export function mcpMessage(method: string, params: Params): { headers: Record<string, string>; body: object } {
  return {
    headers: {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": PROTOCOL,
      "Mcp-Method": method,
      ...(params.name !== undefined && { "Mcp-Name": params.name }),
    },
    body: { jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta: ENVELOPE } },
  };
}

function mcpRequest(method: string, params: Params, more = ""): string {
  const { headers, body } = mcpMessage(method, params);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return withBody("POST /mcp", JSON.stringify(body), lines.join("") + more);
}

const callTool = (action: string, args: object, more?: string): string =>
  mcpRequest("tools/call", { name: `formbridge_supplier_${action}`, arguments: args }, more);

/** The same operations as tool calls of the newest revision. */
export const byTool: Requests = {
  create: (apiKey, turn) => callTool("create", createBody(turn), withKey(apiKey)),
  setFields: (resumeToken, turn) => callTool("set", { resumeToken, ...setFieldsBody(turn) }),
  read: (resumeToken) => callTool("status", { resumeToken }),
};
