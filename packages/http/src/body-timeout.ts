import type { FastifyReply, FastifyRequest } from "fastify";
import { answerBrokenRequest } from "./broken-requests.ts";

/**
 * Node would give every request one time to arrive, files included. Here each body has that time. Those that have a rule of their
 * own have it from their answer on: then nobody waits for the rest any more, and nobody else would end it.
 *
 * Most bodies come with their head. Only for one that is not there a turn of the event loop later is there a timer.
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
    // A second answer would be taken for that of the next request.
    if (reply.raw.headersSent) raw.destroy();
    else answerBrokenRequest(new Error("the body took too long"), raw.socket);
  }, ms);
  const clear = (): void => clearTimeout(timer);
  raw.once("end", clear).once("close", clear);
}
