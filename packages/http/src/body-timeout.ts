import type { FastifyReply, FastifyRequest } from "fastify";
import { answerBrokenRequest } from "./broken-requests.ts";

/**
 * Node has one timeout for all requests, uploads included. Here it applies to each body; bodies with their own timeout get this one
 * once the response was sent, because nothing else would end them then.
 *
 * Most bodies arrive with their headers, so the timer starts only if the body is incomplete one turn of the event loop later.
 */
export function createBodyTimeout(ms: number, isExempt: (request: FastifyRequest) => boolean) {
  let begun: { request: FastifyRequest; reply: FastifyReply }[] = [];

  function limitLate(): void {
    const seen = begun;
    begun = [];
    for (const { request, reply } of seen) limit(request, reply, ms);
  }

  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { raw } = request;
    const hasBody = raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined;
    if (hasBody && !raw.complete) {
      if (isExempt(request)) reply.raw.once("finish", () => limit(request, reply, ms));
      else {
        if (begun.length === 0) setImmediate(limitLate);
        begun.push({ request, reply });
      }
    }
    done();
  };
}

function limit({ raw }: FastifyRequest, reply: FastifyReply, ms: number): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => {
    // A second response would be read as that of the next request.
    if (reply.raw.headersSent) raw.destroy();
    else answerBrokenRequest(new Error("the body took too long"), raw.socket);
  }, ms);
  const clear = (): void => clearTimeout(timer);
  raw.once("end", clear).once("close", clear);
}
