import { ContractError, type Health, type Operations, parseJsonBody } from "@formbridge/core";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { type AgentDoor, registerAgentEndpoint } from "./agent-endpoint.ts";
import { createBodyTimeout } from "./body-timeout.ts";
import { answerBrokenRequest, answerOddRequests } from "./broken-requests.ts";
import { createCohorts } from "./cohorts.ts";
import { registerDocs } from "./docs-page.ts";
import { sendError } from "./encode.ts";
import { asContractError } from "./error-map.ts";
import { createHandler } from "./handle.ts";
import { EVERY_ANSWER, FOR_OTHER_ORIGINS, PREFLIGHT, requestId, TLS_ONLY } from "./headers.ts";
import { createMethodFinder } from "./known-methods.ts";
import { leaveTogether } from "./leave-together.ts";
import { createOpenApi } from "./openapi.ts";
import { refuseTokensInClear } from "./plain-http.ts";
import { TOKEN_SHAPE } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { BYTE_PATHS, carriesBytes, registerUploadBytes } from "./upload-bytes.ts";

export interface HttpOptions {
  operations: Operations;
  /** The backends that readiness asks, by name. */
  health: () => Promise<Record<string, Health>>;
  logger: FastifyBaseLogger;
  version: string;
  publicUrl: string;
  maxBodyBytes: number;
  maxDepth: number;
  maxKeys: number;
  maxHeaderBytes: number;
  requestTimeoutMs: number;
  /** A client that sends a file may be slow, and silent for no longer than this. */
  uploadIdleMs: number;
  /** A client that does not read its answer holds a stop up for no longer. */
  stopGraceMs: number;
  trustProxy: boolean;
  allowTestHeaders: boolean;
  /** The agent protocol; absent: there is no `/mcp`. */
  agents?: AgentDoor;
}

const CLOSE_IDLE_EVERY_MS = 20;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The HTTP binding: one row of `ROUTES` an endpoint, and what all of them share. */
export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const stop = new AbortController();
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.maxBodyBytes,
    // Bodies have a rule of their own; a header block must be there in time.
    requestTimeout: 0,
    routerOptions: { maxParamLength: 1024 },
    // One proxy: what it adds to X-Forwarded-For is true, what came before is whatever the client wrote.
    trustProxy: options.trustProxy ? (_address, hop) => hop === 0 : false,
    forceCloseConnections: "idle",
    // A request without Host is refused by us, in the envelope.
    http: { maxHeaderSize: options.maxHeaderBytes, requireHostHeader: false },
    genReqId: requestId,
    // A logger a request costs more than the few that log anything are worth; they name the request themselves.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) =>
      sendError(reply.header("x-request-id", request.id).headers(EVERY_ANSWER), asContractError(error)),
  });
  answerOddRequests(app.server);
  app.server.on("connection", leaveTogether);
  app.server.headersTimeout = options.requestTimeoutMs;
  shareBehaviour(app, options);
  app.addHook("onRequest", createBodyTimeout(options.requestTimeoutMs, carriesBytes));
  app.addHook("preHandler", createCohorts());
  app.options("*", (_request, reply) => reply.code(204).headers(PREFLIGHT).send());
  if (!options.trustProxy) app.addHook("onRequest", refuseTokensInClear);
  for (const route of ROUTES) {
    const handler = createHandler(route, options.operations, { ...options, stopping: stop.signal });
    app.route({ method: route.method, url: route.path.replace(":token", `:token(^${TOKEN_SHAPE}$)`), handler });
  }
  if (options.agents !== undefined) registerAgentEndpoint(app, options.agents);
  registerUploadBytes(app, { ...options, idleMs: options.uploadIdleMs });
  registerHealth(app, options);
  await registerDocs(app, createOpenApi(options));
  // Live streams never end by themselves: they are told, so that what was accepted can finish.
  app.addHook("preClose", async () => {
    stop.abort();
    // A connection that was busy when the server began to close is kept alive after its answer, for nobody.
    const closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    const giveUp = setTimeout(() => app.server.closeAllConnections(), options.stopGraceMs);
    app.server.once("close", () => {
      clearInterval(closing);
      clearTimeout(giveUp);
    });
  });
  return app;
}

function shareBehaviour(app: FastifyInstance, options: HttpOptions): void {
  const { maxDepth, maxKeys } = options;
  const constant = options.trustProxy ? { ...EVERY_ANSWER, ...TLS_ONLY } : EVERY_ANSWER;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    try {
      const bytes = body as Buffer;
      done(null, bytes.length === 0 ? {} : parseJsonBody(bytes, { maxDepth, maxKeys }));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id).headers(constant);
    if (request.headers.origin !== undefined) reply.headers(FOR_OTHER_ORIGINS);
    // Fastify would look for a body first, and trip over its absence.
    if (!METHODS.has(request.method)) return refuseMissing(request, reply);
    const hasHost = request.headers.host !== undefined || request.raw.httpVersionMinor === 0;
    done(hasHost ? undefined : new ContractError("bad_request", "The Host header is missing."));
  });
  if (["debug", "trace"].includes(options.logger.level)) app.addHook("onResponse", logAnswer);
  app.setErrorHandler((error, request, reply) => {
    const known = asContractError(error);
    // A store that is down says why in its cause; the caller is not told.
    const cause =
      known.type === "internal_error" ? error : known.type === "service_unavailable" ? known.cause : undefined;
    if (cause !== undefined) request.log.error({ err: cause, requestId: request.id }, "request failed");
    return sendError(reply, known);
  });
  app.setNotFoundHandler(refuseMissing);
}

const methodsOf = createMethodFinder([...ROUTES, ...BYTE_PATHS]);

/** Tells a wrong path from a wrong method. */
function refuseMissing(request: FastifyRequest, reply: FastifyReply): void {
  const methods = methodsOf(request.url);
  if (methods.length === 0) {
    sendError(reply, new ContractError("not_found", "There is nothing at this path."));
    return;
  }
  reply.header("allow", methods.join(", "));
  sendError(reply, new ContractError("method_not_allowed", `This path takes ${methods.join(", ")}.`));
}

/** The route, not the URL: a path may hold a token. */
function logAnswer(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { method, log, id: requestId } = request;
  const route = request.routeOptions.url ?? "unknown";
  log.debug(
    { requestId, method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime * 100) / 100 },
    "answered",
  );
  done();
}

function registerHealth(app: FastifyInstance, { health, version }: HttpOptions): void {
  app.get("/healthz", async () => ({ ok: true, version }));
  app.get("/readyz", async (_request, reply) => {
    const stores = await health();
    const ok = Object.values(stores).every(({ healthy, optional = false }) => healthy || optional);
    return reply.code(ok ? 200 : 503).send({ ok, stores });
  });
}
