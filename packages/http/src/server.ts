import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import { ContractError, type Health, type Operations } from "@formbridge/core";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { registerDocs } from "./docs-page.ts";
import { sendError } from "./encode.ts";
import { asContractError, errorBody, statusOf } from "./error-map.ts";
import { createHandler } from "./handle.ts";
import { createMethodFinder } from "./known-methods.ts";
import { createOpenApi } from "./openapi.ts";
import { parseJsonBody } from "./parse/json-body.ts";
import { refuseTokensInClear } from "./plain-http.ts";
import { ROUTES } from "./routes.ts";

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
  trustProxy: boolean;
  allowTestHeaders: boolean;
}

const EXPOSED = [
  "ETag",
  "Content-Type",
  "Last-Modified",
  "Retry-After",
  "X-Resume-Token",
  "X-Intake-Version",
  "X-Submission-Version",
  "X-Request-Id",
  "X-Original-Request-Time",
  "X-Next-Event-Id",
  "Idempotent-Replayed",
  "RateLimit",
  "RateLimit-Policy",
];
const ALLOWED = [
  "Authorization",
  "Content-Type",
  "Accept",
  "If-Match",
  "If-None-Match",
  "Idempotency-Key",
  "Last-Event-ID",
  "Prefer",
  "X-Intake-Version",
  "X-Idempotency-TTL",
  "X-Request-Id",
];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The HTTP binding: one row of `ROUTES` an endpoint, and what all of them share. */
export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const stop = new AbortController();
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    routerOptions: { maxParamLength: 1024 },
    trustProxy: options.trustProxy,
    forceCloseConnections: "idle",
    http: { maxHeaderSize: options.maxHeaderBytes },
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && SAFE_REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, _request, reply) => sendError(reply, asContractError(error)),
  });
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: "cross-origin" },
  });
  await app.register(cors, {
    origin: "*",
    methods: METHODS,
    allowedHeaders: ALLOWED,
    exposedHeaders: EXPOSED,
    maxAge: 86_400,
  });
  shareBehaviour(app, options);
  if (!options.trustProxy) app.addHook("onRequest", refuseTokensInClear);
  for (const route of ROUTES) {
    const handler = createHandler(route, options.operations, { ...options, stopping: stop.signal });
    app.route({ method: route.method, url: route.path, handler });
  }
  registerHealth(app, options);
  await registerDocs(app, createOpenApi(options));
  // Live streams never end by themselves: they are told, so that what was accepted can finish.
  app.addHook("preClose", async () => stop.abort());
  return app;
}

function shareBehaviour(app: FastifyInstance, options: HttpOptions): void {
  const { maxDepth, maxKeys } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    try {
      const bytes = body as Buffer;
      done(null, bytes.length === 0 ? {} : parseJsonBody(bytes, { maxDepth, maxKeys }));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id).header("cache-control", "no-store");
  });
  app.addHook("onResponse", async (request, reply) => {
    // The route, not the URL: a path may hold a token.
    const route = request.routeOptions.url ?? "unknown";
    const { method, id } = request;
    request.log.debug({ method, route, requestId: id, status: reply.statusCode, ms: reply.elapsedTime }, "answered");
  });
  app.setErrorHandler((error, request, reply) => {
    const known = asContractError(error);
    if (known.type === "internal_error") request.log.error({ err: error, requestId: request.id }, "request failed");
    return sendError(reply, known);
  });
  const methodsOf = createMethodFinder(ROUTES);
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url);
    if (methods.length === 0) return sendError(reply, new ContractError("not_found", "There is nothing at this path."));
    reply.header("allow", methods.join(", "));
    return sendError(reply, new ContractError("method_not_allowed", `This path takes ${methods.join(", ")}.`));
  });
}

function registerHealth(app: FastifyInstance, { health, version }: HttpOptions): void {
  app.get("/healthz", async () => ({ ok: true, version }));
  app.get("/readyz", async (_request, reply) => {
    const stores = await health();
    const ok = Object.values(stores).every((store) => store.healthy);
    return reply.code(ok ? 200 : 503).send({ ok, stores });
  });
}

/** What the parser of HTTP itself refuses never reaches a route; it gets the same envelope. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new ContractError("headers_too_large", "The header block is over the limit.")
      : new ContractError("bad_request", "The request is not valid HTTP.");
  const body = JSON.stringify(errorBody(refusal));
  const status = statusOf(refusal);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
