import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** The client's country, in capitals, if a trusted proxy sends it. */
    country?: string;
  }
}

/** What Cloudflare, Google and others send for an address whose country they don't know. */
const UNKNOWN = new Set(["XX", "ZZ"]);

/** Reads the country from a header of the proxy; anything that isn't two letters is ignored, and so is an unknown country. */
export function readCountry(app: FastifyInstance, header: string): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const value = request.headers[header];
    const country = typeof value === "string" && /^[a-z]{2}$/i.test(value) ? value.toUpperCase() : undefined;
    if (country !== undefined && !UNKNOWN.has(country)) request.country = country;
    done();
  });
}
