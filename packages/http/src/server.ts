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
import { readCountry } from "./country.ts";
import { registerDocs } from "./docs-page.ts";
import { sendError } from "./encode.ts";
import { asContractError } from "./error-map.ts";
import { createHandler } from "./handle.ts";
import { HARVEST_METHODS, type HarvestDoor, registerHarvestEndpoint } from "./harvest-endpoint.ts";
import { EVERY_ANSWER, FOR_OTHER_ORIGINS, PREFLIGHT, requestId, TLS_ONLY } from "./headers.ts";
import { createMethodFinder } from "./known-methods.ts";
import { type AnsweredRequest, reportAnswers, type Scrape, serveMetrics } from "./observed.ts";
import { createOpenApi } from "./openapi.ts";
import { createPages, type PagesOptions } from "./pages.ts";
import { refuseNul } from "./parse/nul.ts";
import { refuseTokensInClear } from "./plain-http.ts";
import { TOKEN_SHAPE } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { BYTE_PATHS, carriesBytes, registerUploadBytes } from "./upload-bytes.ts";

export interface HttpOptions {
  operations: Operations;
  /** Health of each backend, for readiness. */
  health: () => Promise<Record<string, Health>>;
  logger: FastifyBaseLogger;
  version: string;
  publicUrl: string;
  maxBodyBytes: number;
  maxDepth: number;
  maxKeys: number;
  maxHeaderBytes: number;
  requestTimeoutMs: number;
  /** Idle timeout of uploads. */
  uploadIdleMs: number;
  /** How long a shutdown waits for open connections. */
  stopGraceMs: number;
  trustProxy: boolean;
  /** The header in which the proxy names the client's country. */
  countryHeader?: string;
  allowTestHeaders: boolean;
  /** Whether `formbridge chaos` may cause faults here; reported by `/healthz`. */
  staging: boolean;
  /** Called after every response. */
  onAnswered?: (request: AnsweredRequest) => void;
  /** Serves `/metrics` here if present. */
  scrape?: Scrape | undefined;
  /** The web pages; absent: links return JSON to browsers too. */
  pages?: PagesOptions;
  /** MCP; absent: no `/mcp`. */
  agents?: AgentDoor;
  /** OAI-PMH; absent: no `/oai`. */
  harvest?: HarvestDoor;
}

const CLOSE_IDLE_EVERY_MS = 20;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The HTTP binding: one row of `ROUTES` per endpoint, and what they share. */
export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const stop = new AbortController();
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.maxBodyBytes,
    // Bodies have their own timeout (`createBodyTimeout`); headers have `headersTimeout`.
    requestTimeout: 0,
    routerOptions: { maxParamLength: 1024 },
    // Trust one hop: earlier entries of X-Forwarded-For come from the client.
    trustProxy: options.trustProxy ? (_address, hop) => hop === 0 : false,
    forceCloseConnections: "idle",
    // We refuse a request without Host ourselves, with the error envelope.
    http: { maxHeaderSize: options.maxHeaderBytes, requireHostHeader: false },
    genReqId: requestId,
    // A child logger per request is expensive, and few requests log; those name the request id themselves.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) =>
      sendError(reply.header("x-request-id", request.id).headers(EVERY_ANSWER), asContractError(error)),
  });
  answerOddRequests(app.server);
  app.server.headersTimeout = options.requestTimeoutMs;
  if (options.onAnswered !== undefined) reportAnswers(app, options.onAnswered);
  if (options.scrape !== undefined) serveMetrics(app, options.scrape);
  if (options.countryHeader !== undefined) readCountry(app, options.countryHeader);
  shareBehaviour(app, options);
  app.addHook("onRequest", createBodyTimeout(options.requestTimeoutMs, carriesBytes));
  app.addHook("preHandler", createCohorts());
  app.options("*", (_request, reply) => reply.code(204).headers(PREFLIGHT).send());
  if (!options.trustProxy) app.addHook("onRequest", refuseTokensInClear);
  const pages = options.pages === undefined ? undefined : createPages(options.pages);
  pages?.register(app);
  for (const route of ROUTES) {
    const handler = createHandler(route, options.operations, { ...options, stopping: stop.signal, pages });
    app.route({ method: route.method, url: route.path.replace(":token", `:token(^${TOKEN_SHAPE}$)`), handler });
  }
  if (options.agents !== undefined) registerAgentEndpoint(app, options.agents);
  if (options.harvest !== undefined) registerHarvestEndpoint(app, options.harvest);
  registerUploadBytes(app, { ...options, idleMs: options.uploadIdleMs });
  registerHealth(app, options);
  await registerDocs(app, createOpenApi(options));
  // End live streams, then let accepted requests finish.
  app.addHook("preClose", async () => {
    stop.abort();
    // Connections that were busy when closing began become idle later.
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
    // Before Fastify looks for a body, which such requests lack.
    if (!METHODS.has(request.method)) return refuseMissing(request, reply);
    const hasHost = request.headers.host !== undefined || request.raw.httpVersionMinor === 0;
    if (!hasHost) throw new ContractError("bad_request", "The Host header is missing. Send it.");
    refuseNul(request);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    const known = asContractError(error);
    if (known.type === "internal_error") request.log.error({ err: error, requestId: request.id }, "request failed");
    noteCause(request, known);
    return sendError(reply, known);
  });
  app.setNotFoundHandler(refuseMissing);
}

/** Log the cause of an outage; don't send it to the caller. */
function noteCause({ facts }: FastifyRequest, { type, cause }: ContractError): void {
  if (facts === undefined) return;
  facts.outcome ??= type;
  if (type === "service_unavailable" && cause instanceof Error) facts.cause = causesOf(cause);
}

const causesOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;

const methodsOf = createMethodFinder([...ROUTES, ...BYTE_PATHS, ...HARVEST_METHODS]);

/** 404 for a wrong path, 405 for a wrong method. */
function refuseMissing(request: FastifyRequest, reply: FastifyReply): void {
  const methods = methodsOf(request.url);
  if (methods.length === 0) {
    sendError(reply, new ContractError("not_found", "This path doesn't exist."));
    return;
  }
  reply.header("allow", methods.join(", "));
  sendError(reply, new ContractError("method_not_allowed", `This path accepts ${methods.join(", ")}.`));
}

function registerHealth(app: FastifyInstance, { health, version, staging }: HttpOptions): void {
  app.get("/healthz", async () => ({ ok: true, version, ...(staging && { staging }) }));
  app.get("/readyz", async (_request, reply) => {
    const stores = await health();
    const ok = Object.values(stores).every(({ healthy, optional = false }) => healthy || optional);
    return reply.code(ok ? 200 : 503).send({ ok, stores });
  });
}
