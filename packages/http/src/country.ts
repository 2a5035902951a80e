import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** The client's country, in capitals, if a trusted proxy sends it. */
    country?: string;
  }
}

/** Reads the country from a header of the proxy; anything that isn't two letters is ignored. */
export function readCountry(app: FastifyInstance, header: string): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const value = request.headers[header];
    if (typeof value === "string" && /^[a-z]{2}$/i.test(value)) request.country = value.toUpperCase();
    done();
  });
}
