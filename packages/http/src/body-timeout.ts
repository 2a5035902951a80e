import type { FastifyRequest } from "fastify";
import { answerBrokenRequest } from "./broken-requests.ts";

/**
 * Node would give every request one time to arrive, files included. Here each body has that time, but for those that have a rule of
 * their own.
 */
export function createBodyTimeout(ms: number, isExempt: (request: FastifyRequest) => boolean) {
  return (request: FastifyRequest, _reply: unknown, done: () => void): void => {
    const { raw } = request;
    const hasBody = raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined;
    if (hasBody && !raw.complete && !isExempt(request)) {
      const timer = setTimeout(() => answerBrokenRequest(new Error("the body took too long"), raw.socket), ms);
      const clear = (): void => clearTimeout(timer);
      raw.once("end", clear).once("close", clear);
    }
    done();
  };
}
