import type { Loose } from "./harness.ts";
import { PROTOCOLS } from "./mcp-clients.ts";

export interface RawCall {
  key?: string;
  headers?: Record<string, string>;
  /** Replaces the whole body. */
  raw?: string;
  /** `undefined` leaves it out, for a notification. */
  id?: unknown;
  /** Merged into `params`, beside the arguments. */
  params?: Record<string, unknown>;
  signal?: AbortSignal;
}

export interface RawReply {
  status: number;
  headers: Record<string, string>;
  /** The JSON-RPC message, if the response is one. */
  message: Loose;
  text: string;
}

/** What each request of 2026-07-28 says about its client. */
export const envelopeOf = (clientName: string) => ({
  "io.modelcontextprotocol/protocolVersion": PROTOCOLS.new,
  "io.modelcontextprotocol/clientInfo": { name: clientName, version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
});

export function requestBody(method: string, { id = 1, params = {} }: RawCall = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: envelopeOf("bot"), ...params } });
}

export function requestHeaders(method: string, { key, headers, params }: RawCall = {}): Record<string, string> {
  const name = params?.name ?? params?.uri;
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": PROTOCOLS.new,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...headers,
  };
}

/** The last message of a stream, or the only one of a plain response. */
function messageIn(text: string): Loose {
  const frames = text.split("\n").filter((line) => line.startsWith("data: "));
  try {
    return JSON.parse(frames.at(-1)?.slice("data: ".length) ?? text);
  } catch {
    return undefined;
  }
}

/** Sends a raw request, whether well-formed or not. */
export async function rpc(url: string, method: string, call: RawCall = {}): Promise<RawReply> {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: requestHeaders(method, call),
    body: call.raw ?? requestBody(method, call),
    ...(call.signal && { signal: call.signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(response.headers), message: messageIn(text), text };
}

export const callTool = (url: string, name: string, args: unknown, call: RawCall = {}): Promise<RawReply> =>
  rpc(url, "tools/call", { ...call, params: { name, arguments: args, ...call.params } });

/** All tools, page by page. */
export async function listTools(url: string, key?: string): Promise<Loose[]> {
  const tools: Loose[] = [];
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const { message } = await rpc(url, "tools/list", { params, ...(key !== undefined && { key }) });
    tools.push(...message.result.tools);
    cursor = message.result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
