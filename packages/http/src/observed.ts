import type { Caller } from "@formbridge/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { userAgentOf } from "./headers.ts";

type CallFacts = NonNullable<Caller["facts"]>;

declare module "fastify" {
  interface FastifyRequest {
    /** What the operations learn about the call; absent if the request broke off in its headers. */
    facts?: CallFacts;
  }
}

/** A completed request, for the log and metrics. */
export interface AnsweredRequest {
  method: string;
  /** The pattern, never the path, which may contain a token. */
  route: string;
  status: number;
  ms: number;
  requestId: string;
  address: string;
  userAgent?: string;
  facts: CallFacts;
}

/** A scrape of metrics, authorized by a bearer key. */
export type Scrape = (
  authorization?: string,
) => Promise<{ status: number; headers: Record<string, string>; body: string }>;

const NOTHING: CallFacts = {};

export function reportAnswers(app: FastifyInstance, report: (request: AnsweredRequest) => void): void {
  app.decorateRequest("facts");
  app.addHook("onRequest", (request, _reply, done) => {
    request.facts = { requestId: request.id };
    done();
  });
  app.addHook("onResponse", (request: FastifyRequest, reply: FastifyReply, done) => {
    report({
      method: request.method,
      route: request.routeOptions.url ?? "unknown",
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
      address: request.ip,
      ...userAgentOf(request.headers),
      facts: request.facts ?? NOTHING,
    });
    done();
  });
}

export function serveMetrics(app: FastifyInstance, scrape: Scrape): void {
  app.get("/metrics", async ({ headers: { authorization } }, reply) => {
    const { status, headers, body } = await scrape(authorization);
    return reply.code(status).headers(headers).send(body);
  });
}
