import type { ActorInput } from "@formbridge/contract";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { actorNamed } from "./actor-named.ts";
import type { ToolResult } from "./answers/result.ts";

/** A `tools/call` of the plainest kind, read without the SDK. */
export interface PlainCall {
  id: string | number;
  name: string;
  args: Record<string, unknown> | undefined;
  actor: ActorInput;
  /** Of the revision without sessions, whose results say what they are. */
  modern: boolean;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Loose = Record<string, unknown>;

const MODERN = "2026-07-28";
const OLDER = new Set(["2025-11-25", "2025-06-18", "2025-03-26"]);
const ENVELOPE = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];

const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hasOnly = (value: Loose, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

/**
 * Most requests are tool calls that nothing is odd about, and the way through the SDK (a server, a transport, two web objects and
 * several validations a request) costs as much as the operation. They are read here; whatever has one thing more or less than
 * expected is left to the SDK, which knows what it means or how to refuse it.
 */
export function readPlainCall(headers: Headers, body: unknown): PlainCall | undefined {
  if (headers["content-type"] !== "application/json" || !isObject(body)) return undefined;
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== "2.0" || method !== "tools/call" || !isObject(params) || Object.keys(body).length !== 4)
    return undefined;
  if (typeof id !== "string" && typeof id !== "number") return undefined;
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== "string" || (args !== undefined && !isObject(args))) return undefined;
  if (!hasOnly(params, ["name", "arguments", "_meta"])) return undefined;
  const call = { id, name, args };
  if (meta === undefined)
    return isOlder(headers) ? { ...call, actor: actorNamed(undefined), modern: false } : undefined;
  return isObject(meta) && isModern(headers, { name, meta })
    ? { ...call, actor: actorNamed((meta[CLIENT_INFO_META_KEY] as Loose).name), modern: true }
    : undefined;
}

function isOlder(headers: Headers): boolean {
  const { accept, "mcp-protocol-version": version } = headers;
  if (typeof version !== "string" || !OLDER.has(version) || typeof accept !== "string") return false;
  return accept.includes("application/json") && accept.includes("text/event-stream");
}

function isModern(headers: Headers, { name, meta }: { name: string; meta: Loose }): boolean {
  const info = meta[CLIENT_INFO_META_KEY];
  return (
    headers["mcp-protocol-version"] === MODERN &&
    headers["mcp-method"] === "tools/call" &&
    headers["mcp-name"] === name &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN &&
    isObject(info) &&
    typeof info.name === "string" &&
    typeof info.version === "string" &&
    isObject(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    hasOnly(meta, ENVELOPE)
  );
}

/** The answer as the SDK would write it. */
export function plainAnswer(call: PlainCall, result: ToolResult, serverInfo: Loose): string {
  const { _meta, ...rest } = result;
  const told = call.modern
    ? { ...rest, resultType: "complete", _meta: { ..._meta, [SERVER_INFO_META_KEY]: serverInfo } }
    : result;
  return JSON.stringify({ result: told, jsonrpc: "2.0", id: call.id });
}
