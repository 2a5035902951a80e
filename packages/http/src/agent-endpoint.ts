import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type Caller, ContractError, errorBody } from "@formbridge/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { refusalHeaders } from "./encode.ts";
import { asContractError, statusOf } from "./error-map.ts";
import { clientOf, credentialOf } from "./parse/request.ts";

/** The MCP binding, as seen from HTTP. */
export interface AgentBinding {
  /** Serves one request with a protocol response. Throws a ContractError for a caller without access. */
  fetch(request: { request: Request; body: unknown; caller: Caller }): Promise<Response>;
  /** Fast path for calls that need no stream; undefined: use `fetch`. */
  answer(request: { headers: IncomingHttpHeaders; body: unknown; caller: Caller }): Promise<string | undefined>;
}

export interface AgentDoor {
  binding: AgentBinding;
  /** Accepted Host names, against DNS rebinding. */
  hosts: readonly string[];
  /** Origins whose pages may call. */
  origins: readonly string[];
}

export const AGENT_PATH = "/mcp";

const PREFLIGHT = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, X-Request-Id",
  "access-control-max-age": "86400",
};

/** `/mcp`: checks Host, Origin and credential, then passes the request to the binding. */
export function registerAgentEndpoint(app: FastifyInstance, { binding, hosts, origins }: AgentDoor): void {
  const knownHosts = new Set(hosts.map((host) => host.toLowerCase()));
  const knownOrigins = new Set(origins.map((origin) => origin.toLowerCase()));
  app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const known = asContractError(error);
      if (known.type === "internal_error") request.log.error({ err: error, requestId: request.id }, "request failed");
      return sendRpcError(reply, known);
    });
    scope.addHook("onRequest", (request, _reply, done) => {
      done(refusal(request, { hosts: knownHosts, origins: knownOrigins }));
    });
    scope.options(AGENT_PATH, (_request, reply) => reply.code(204).headers(PREFLIGHT).send());
    scope.route({
      // The binding refuses all methods but POST, as the protocol requires.
      method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      url: AGENT_PATH,
      handler: async (request, reply) => {
        const caller = { ...clientOf(request), ...credentialOf(request) };
        const { headers, body } = request;
        const answer = request.method === "POST" ? await binding.answer({ headers, body, caller }) : undefined;
        if (answer !== undefined) return reply.header("content-type", "application/json").send(answer);
        const response = await binding.fetch({ request: webRequest(request, untilGone(reply)), body, caller });
        return sendResponse(reply, response);
      },
    });
  });
}

/** Aborted when the client disconnects before the response is complete. */
function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

interface Door {
  hosts: ReadonlySet<string>;
  origins: ReadonlySet<string>;
}

/** Only browsers send an Origin; other programs pass without one. */
function refusal({ headers }: FastifyRequest, { hosts, origins }: Door): ContractError | undefined {
  const name = hostNameOf(headers.host);
  if (name === undefined || !hosts.has(name)) {
    return new ContractError("forbidden", "This Host isn't allowed. The operator can add it to FORMBRIDGE_MCP_HOSTS.");
  }
  const { origin } = headers;
  if (origin === undefined || origins.has(origin.toLowerCase()) || isOwn(origin, headers.host)) return undefined;
  return new ContractError(
    "forbidden",
    "Pages of this Origin aren't allowed. The operator can add it to FORMBRIDGE_MCP_ORIGINS.",
  );
}

/** A page of this server. */
const isOwn = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();

/** Host and optional port. Not parsed as a URL, which would accept a user, a path or a fragment. */
const HOST = /^(?:\[[\da-f:.]+\]|[^\s/\\?#@:[\]]+)(?::\d*)?$/i;

function hostNameOf(host = ""): string | undefined {
  if (!HOST.test(host)) return undefined;
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

function webRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return new Request(`http://localhost${AGENT_PATH}`, { method: request.method, headers, signal });
}

async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  if (response.body === null) return reply.send();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream) return reply.send(await response.text());
  return reply
    .header("x-accel-buffering", "no")
    .header("cache-control", "no-store")
    .send(Readable.fromWeb(response.body as ReadableStream<Uint8Array>));
}

/** JSON-RPC's own numbers where it has one; the contract's error is in the data. */
function rpcCode({ type }: ContractError): number {
  if (type === "bad_request") return -32700;
  return type === "internal_error" ? -32603 : -32000;
}

function sendRpcError(reply: FastifyReply, error: ContractError): FastifyReply {
  refusalHeaders(reply, error);
  const body = {
    jsonrpc: "2.0",
    id: null,
    error: { code: rpcCode(error), message: error.message, data: errorBody(error) },
  };
  return reply.code(statusOf(error)).header("content-type", "application/json").send(JSON.stringify(body));
}
