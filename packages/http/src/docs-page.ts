import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";

/** The reference page is self-contained: its script comes from here, and it reaches nothing outside. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

export async function registerDocs(app: FastifyInstance, document: object): Promise<void> {
  const text = JSON.stringify(document);
  app.get("/openapi.json", async (_request, reply) =>
    reply.header("content-type", "application/json; charset=utf-8").send(text),
  );
  await app.register(async (scope) => {
    scope.addHook("onSend", async (_request, reply) => {
      reply.header("content-security-policy", PAGE_POLICY);
    });
    await scope.register(scalar, {
      routePrefix: "/docs",
      configuration: { url: "/openapi.json", withDefaultFonts: false, telemetry: false },
    });
  });
}
