import type { FastifyReply, FastifyRequest } from "fastify";
import { answerBrokenRequest } from "./broken-requests.ts";

/**
 * Node would give every request one time to arrive, files included. Here each body has that time. Those that have a rule of their
 * own have it from their answer on: then nobody waits for the rest any more, and nobody else would end it.
 */
export function createBodyTimeout(ms: number, isExempt: (request: FastifyRequest) => boolean) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { raw } = request;
    const hasBody = raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined;
    if (hasBody && !raw.complete) {
      if (isExempt(request)) reply.raw.once("finish", () => limit(request, reply, ms));
      else limit(request, reply, ms);
    }
    done();
  };
}

function limit({ raw }: FastifyRequest, reply: FastifyReply, ms: number): void {
  if (raw.complete) return;
  const timer = setTimeout(() => {
    // A second answer would be taken for that of the next request.
    if (reply.raw.headersSent) raw.destroy();
    else answerBrokenRequest(new Error("the body took too long"), raw.socket);
  }, ms);
  const clear = (): void => clearTimeout(timer);
  raw.once("end", clear).once("close", clear);
}
