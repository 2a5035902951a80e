import type { Caller, Operations, Policy } from "@formbridge/core";
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import { isTooMuch, TOO_MUCH } from "./batch.ts";
import { callTool, type InSpan, type OnCall } from "./call-tool.ts";
import { createCatalog, type ToolsMode } from "./catalog.ts";
import { createFormPage } from "./form/form-page.ts";
import { withFormTools } from "./form/listed-form.ts";
import { NO_HOST } from "./human/host-side.ts";
import { createRequestStates, type Seal } from "./human/request-state.ts";
import { createTasks } from "./human/tasks.ts";
import { createInFlight } from "./in-flight.ts";
import { plainAnswer, plainList, readPlain } from "./plain-call.ts";
import { createServer, type ServerOptions, type ServerParts, serverInfoOf, tracedFrom } from "./server.ts";

export interface McpOptions {
  operations: Operations;
  tools: ToolsMode;
  /** The lifetimes stated in tool descriptions. */
  policy: Policy;
  version: string;
  /** Seals the state that passes through a client between two rounds of a call. */
  seal: Seal;
  now(): number;
  /** How long a host may take to ask its user. Keep it below a minute, after which hosts end calls. */
  askTimeoutMs: number;
  /** The origins that a host's form uploads files to. */
  uploadOrigins(): readonly string[];
  /** The form's script as built from apps/web; without it hosts show no form. */
  formScript?: string | undefined;
  onError(error: unknown): void;
  onCall?: OnCall;
  /** Absent: calls aren't traced. */
  inSpan?: InSpan | undefined;
  serverClass?: ServerOptions["serverClass"];
}

/** An authenticated and parsed MCP request. */
export interface McpRequest {
  request: Request;
  body: unknown;
  caller: Caller;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface McpBinding {
  /** Serves one HTTP request of any protocol revision. Throws a contract error if the API key is invalid. */
  fetch(request: McpRequest): Promise<Response>;
  /** Responds to a plain request as text, or returns undefined to leave it to `fetch`. Throws like `fetch`. */
  answer(request: Omit<McpRequest, "request"> & { headers: IncomingHeaders }): Promise<string | undefined>;
  /** What a connection's server needs. */
  parts: ServerParts;
  /** Calls back when tools may have changed; returns how to unsubscribe. */
  onToolsChanged(changed: () => void): () => void;
  close(): Promise<void>;
}

/** People take their time, but after this long nobody waits for the call any more. */
const STATE_LIFE_MS = 900_000;

/** How long stopping waits for calls in flight. */
const STOP_MS = 2_000;

/** For calls that are answered at once and never check whether the caller is still there. */
const NEVER = new AbortController().signal;

const tooMuchAtOnce = (): Response =>
  Response.json(
    {
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: TOO_MUCH },
    },
    { status: 400 },
  );

const callers = new WeakMap<AuthInfo, Caller>();

/** The MCP binding: tools, resources and prompts over the operations, for HTTP and for connections. */
export async function createMcpBinding(options: McpOptions): Promise<McpBinding> {
  const { operations, version, now, askTimeoutMs, uploadOrigins, onError, serverClass } = options;
  const stop = new AbortController();
  const catalog = createCatalog({ operations, mode: options.tools, policy: options.policy });
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
    formPage: options.formScript === undefined ? undefined : createFormPage(options.formScript),
    stopping: stop.signal,
    onError,
    onCall: options.onCall,
    inSpan: options.inSpan,
  };
  const handler = createMcpHandler((context) => {
    const caller = context.authInfo === undefined ? undefined : callers.get(context.authInfo);
    if (caller === undefined) throw new Error("a request without a caller");
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
      // The SDK passes this on untouched; the credential itself stays with us.
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
      const from = tracedFrom(caller, plain.traceparent);
      const result = await callTool({ ...parts, ...plain, caller: from, view, signal: NEVER, host: NO_HOST });
      return result === undefined ? undefined : plainAnswer(plain, result, serverInfo);
    },
    onToolsChanged(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    async close() {
      unwatch();
      // Let waiting calls respond first: closing cuts their connections.
      stop.abort();
      await inFlight.ended(STOP_MS);
      await handler.close();
    },
  };
}
