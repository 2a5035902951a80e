import type { Caller, Operations } from "@formbridge/core";
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import { callTool } from "./call-tool.ts";
import { createCatalog, type ToolsMode } from "./catalog.ts";
import { withFormTools } from "./form/listed-form.ts";
import { NO_HOST } from "./human/host-side.ts";
import { createRequestStates, type Seal } from "./human/request-state.ts";
import { createTasks } from "./human/tasks.ts";
import { createInFlight } from "./in-flight.ts";
import { plainAnswer, plainList, readPlain } from "./plain-call.ts";
import { createServer, type ServerOptions, type ServerParts, serverInfoOf } from "./server.ts";

export interface McpOptions {
  operations: Operations;
  tools: ToolsMode;
  /** How long a resume token lives where an intake does not say so: told in descriptions. */
  tokenTtlMs: number;
  version: string;
  /** Seals what travels through a client between two rounds of a call. */
  seal: Seal;
  now(): number;
  /** How long a host is given to put a question to its person. Hosts end calls after a minute: less than that. */
  askTimeoutMs: number;
  /** Where a host's form sends files to. */
  uploadOrigins(): readonly string[];
  onError(error: unknown): void;
  serverClass?: ServerOptions["serverClass"];
}

/** A request of the agent protocol, after the door: parsed, and by whom. */
export interface McpRequest {
  request: Request;
  body: unknown;
  caller: Caller;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface McpBinding {
  /** Serves one HTTP request, of any revision of the protocol. Throws the contract's error for a key that is not good. */
  fetch(request: McpRequest): Promise<Response>;
  /** The answer to a plain request, as text; undefined: `fetch` knows what it is. Throws like `fetch`. */
  answer(request: Omit<McpRequest, "request"> & { headers: IncomingHeaders }): Promise<string | undefined>;
  /** What the server of a connection works with. */
  parts: ServerParts;
  /** Calls when tools may have changed; answers how to stop. */
  onToolsChanged(changed: () => void): () => void;
  close(): Promise<void>;
}

/** People take their time; a call that is older than this is one that nobody waits for. */
const STATE_LIFE_MS = 900_000;

/** How long a stop waits for calls that are being answered. */
const STOP_MS = 2_000;

/** Nothing that is answered at once looks whether its caller is still there. */
const NEVER = new AbortController().signal;

/** A short message may have a long answer: a batch must not be a way to ask for thousands of them. */
const MAX_BATCH = 20;

/** The longest answers are lists, and nobody needs the same one twice. */
function isTooMuch(batch: readonly unknown[]): boolean {
  const methods = batch.map((message) => (message as { method?: unknown } | null)?.method);
  const lists = methods.filter((method) => typeof method === "string" && method.endsWith("/list"));
  return batch.length > MAX_BATCH || new Set(lists).size < lists.length;
}

const tooMuchAtOnce = (): Response =>
  Response.json(
    {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: `A batch has at most ${MAX_BATCH} messages, and asks for a list once.` },
    },
    { status: 400 },
  );

const callers = new WeakMap<AuthInfo, Caller>();

/** The MCP binding: tools, resources and prompts over the operations, for HTTP and for connections. */
export async function createMcpBinding(options: McpOptions): Promise<McpBinding> {
  const { operations, version, now, askTimeoutMs, uploadOrigins, onError, serverClass } = options;
  const stop = new AbortController();
  const catalog = createCatalog({ operations, mode: options.tools, tokenTtlMs: options.tokenTtlMs });
  const serverInfo = serverInfoOf(version);
  const inFlight = createInFlight();
  const parts: ServerParts = {
    operations,
    catalog,
    states: createRequestStates(options.seal, { now, lifeMs: STATE_LIFE_MS }),
    tasks: createTasks(options.seal, now),
    inFlight,
    askTimeoutMs,
    uploadOrigins,
    stopping: stop.signal,
    onError,
  };
  const handler = createMcpHandler((context) => {
    const caller = context.authInfo === undefined ? undefined : callers.get(context.authInfo);
    if (caller === undefined) throw new Error("a request without its caller");
    return createServer({ version, caller, parts, ...(serverClass && { serverClass }) });
  });
  const listeners = new Set<() => void>();
  const unwatch = await operations.watchIntakes(() => {
    catalog.forget();
    handler.notify.toolsChanged();
    handler.notify.resourcesChanged();
    for (const listener of listeners) listener();
  });
  return {
    parts,
    async fetch({ request, body, caller }) {
      if (Array.isArray(body) && isTooMuch(body)) return tooMuchAtOnce();
      await operations.checkCaller({ caller });
      // The SDK hands this on untouched; the credential itself stays with us.
      const authInfo: AuthInfo = { token: "", clientId: "", scopes: [] };
      callers.set(authInfo, caller);
      return await handler.fetch(request, { authInfo, parsedBody: body });
    },
    async answer({ headers, body, caller }) {
      const plain = readPlain(headers, body);
      if (plain === undefined || serverClass !== undefined) return undefined;
      if (plain.method === "tools/list") {
        const { toolsAsText } = await catalog.showTo(caller);
        return plainList(plain, withFormTools(toolsAsText(), plain.capabilities), serverInfo);
      }
      const view = await catalog.viewOf(caller);
      if (view.find(plain.name)?.tool.converses?.(plain.args ?? {}) === true) return undefined;
      const result = await callTool({ ...parts, ...plain, caller, view, signal: NEVER, host: NO_HOST });
      return result === undefined ? undefined : plainAnswer(plain, result, serverInfo);
    },
    onToolsChanged(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    async close() {
      unwatch();
      // Whoever waits is answered first: closing cuts lines.
      stop.abort();
      await inFlight.ended(STOP_MS);
      await handler.close();
    },
  };
}
