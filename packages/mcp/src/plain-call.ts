import type { ActorInput } from "@formbridge/contract";
import { isObject } from "@formbridge/core";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { actorNamed } from "./actor-named.ts";
import type { ToolResult } from "./answers/result.ts";

interface PlainRequest {
  id: string | number;
  /** Whether it is of the revision without sessions, whose results state their type. */
  modern: boolean;
}

/** A plain `tools/call`, parsed without the SDK. */
export interface PlainCall extends PlainRequest {
  method: "tools/call";
  name: string;
  args: Record<string, unknown> | undefined;
  actor: ActorInput;
  /** The span that the message names. */
  traceparent: unknown;
}

/** A plain `tools/list`. */
export interface PlainList extends PlainRequest {
  method: "tools/list";
  /** Undefined if the request doesn't state the client's capabilities. */
  capabilities: ClientCapabilities | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Loose = Record<string, unknown>;

const MODERN = "2026-07-28";
const OLDER = new Set(["2025-11-25", "2025-06-18", "2025-03-26"]);
const TRACE_CONTEXT = ["traceparent", "tracestate"];
const ENVELOPE = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY, ...TRACE_CONTEXT];

const hasOnly = (value: Loose, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

/**
 * Most requests are ordinary tool calls, and the SDK (a server, a transport, two web objects and several validations
 * per request) costs as much as the operation, or more for a long tool list. So plain requests are parsed here.
 * Anything that differs from the expected form is left to the SDK, which knows how to handle or refuse it.
 */
export function readPlain(headers: Headers, body: unknown): PlainCall | PlainList | undefined {
  if (headers["content-type"] !== "application/json" || !isObject(body)) return undefined;
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc !== "2.0" || !isObject(params) || !hasOnly(body, ["jsonrpc", "id", "method", "params"])) return undefined;
  if (typeof id !== "string" && !(typeof id === "number" && Number.isSafeInteger(id))) return undefined;
  const { _meta: meta, name, arguments: args } = params;
  if (method === "tools/list") {
    const modern = hasOnly(params, ["_meta"]) ? revisionOf(headers, { method, meta }) : undefined;
    if (modern === undefined) return undefined;
    const capabilities = modern ? ((meta as Loose)[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) : undefined;
    return { method, id, modern, capabilities };
  }
  const fits = typeof name === "string" && (args === undefined || isObject(args));
  if (method !== "tools/call" || !fits || !hasOnly(params, ["name", "arguments", "_meta"])) return undefined;
  const modern = revisionOf(headers, { method, name, meta });
  if (modern === undefined) return undefined;
  const info = modern ? ((meta as Loose)[CLIENT_INFO_META_KEY] as Loose) : {};
  const { traceparent } = modern ? (meta as Loose) : {};
  return { method, id, modern, name, args, actor: actorNamed(info.name), traceparent };
}

interface Claim {
  method: string;
  name?: string;
  meta: unknown;
}

/** True for the newest revision, false for an earlier one, undefined if neither is certain. */
function revisionOf(headers: Headers, claim: Claim): boolean | undefined {
  if (claim.meta === undefined) return isOlder(headers) ? false : undefined;
  return isObject(claim.meta) && isModern(headers, { ...claim, meta: claim.meta }) ? true : undefined;
}

function isOlder(headers: Headers): boolean {
  const { accept, "mcp-protocol-version": version } = headers;
  if (typeof version !== "string" || !OLDER.has(version) || typeof accept !== "string") return false;
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

function isModern(headers: Headers, { method, name, meta }: Claim & { meta: Loose }): boolean {
  const info = meta[CLIENT_INFO_META_KEY];
  return (
    headers["mcp-protocol-version"] === MODERN &&
    headers["mcp-method"] === method &&
    headers["mcp-name"] === name &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isObject(info) &&
    typeof info.name === "string" &&
    typeof info.version === "string" &&
    isObject(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    hasOnly(meta, ENVELOPE)
  );
}

/** The response as the SDK would write it. */
export function plainAnswer({ id, modern }: PlainRequest, result: ToolResult, serverInfo: Loose): string {
  const { _meta, ...rest } = result;
  const told = modern
    ? { ...rest, resultType: "complete", _meta: { ..._meta, [SERVER_INFO_META_KEY]: serverInfo } }
    : result;
  return JSON.stringify({ result: told, jsonrpc: "2.0", id });
}

/** The same for a tool list, which is already serialized. */
export function plainList({ id, modern }: PlainRequest, tools: string, serverInfo: Loose): string {
  const seal = modern
    ? `,"ttlMs":0,"cacheScope":"private","resultType":"complete","_meta":${JSON.stringify({ [SERVER_INFO_META_KEY]: serverInfo })}`
    : "";
  return `{"result":{"tools":${tools}${seal}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}
