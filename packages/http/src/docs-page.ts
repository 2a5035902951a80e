import Fastify, { type FastifyInstance } from "fastify";

/** The reference page is self-contained: it loads its script from here and contacts no other origin. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** A separate application for the page and its assets, loaded on the first visit. */
async function createPages(): Promise<FastifyInstance> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const pages = Fastify();
  await pages.register(scalar, {
    routePrefix: "/docs",
    configuration: { url: "/openapi.json", withDefaultFonts: false, telemetry: false },
  });
  return pages;
}

export async function registerDocs(app: FastifyInstance, document: object): Promise<void> {
  const text = JSON.stringify(document);
  app.get("/openapi.json", async (_request, reply) =>
    reply.header("content-type", "application/json; charset=utf-8").send(text),
  );
  let pages: Promise<FastifyInstance> | undefined;
  for (const url of ["/docs", "/docs/*"]) {
    app.get(url, async (request, reply) => {
      pages ??= createPages();
      const answer = await (await pages).inject({ method: "GET", url: request.url });
      // Use our own 404 response.
      if (answer.statusCode === 404) return reply.callNotFound();
      for (const name of ["content-type", "location", "cache-control"]) {
        const value = answer.headers[name];
        if (value !== undefined) reply.header(name, value);
      }
      return reply.code(answer.statusCode).header("content-security-policy", PAGE_POLICY).send(answer.rawPayload);
    });
  }
}
