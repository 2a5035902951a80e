import { ContractError } from "@formbridge/core";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The OAI-PMH binding, as seen from HTTP. */
export interface HarvestBinding {
  /** The response to a request's arguments, as XML. */
  answer(given: readonly (readonly [string, string])[]): Promise<string>;
  schema: { file: string; text: string };
}

export interface HarvestDoor {
  binding: HarvestBinding;
  /** How many harvesters are served concurrently; others are asked to retry later. */
  atOnce: number;
  retryAfterMs: number;
}

export const HARVEST_PATH = "/oai";
export const HARVEST_METHODS = [
  { method: "GET", path: HARVEST_PATH },
  { method: "POST", path: HARVEST_PATH },
] as const;

const XML_TYPE = "text/xml; charset=utf-8";

/** `/oai`: arguments come in the query or a form, in any order, and may be repeated; the binding validates them. */
export function registerHarvestEndpoint(app: FastifyInstance, { binding, atOnce, retryAfterMs }: HarvestDoor): void {
  let running = 0;
  async function serve(text: string, reply: FastifyReply): Promise<FastifyReply> {
    if (running >= atOnce) {
      throw new ContractError("service_unavailable", "Too many harvests at once. Try again later.", { retryAfterMs });
    }
    running += 1;
    try {
      return reply.header("content-type", XML_TYPE).send(await binding.answer([...new URLSearchParams(text)]));
    } finally {
      running -= 1;
    }
  }

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
      done(null, body),
    );
    scope.addContentTypeParser("*", (_request, _payload, done) =>
      done(new ContractError("unsupported_media_type", "The body must be application/x-www-form-urlencoded.")),
    );
    scope.get(HARVEST_PATH, (request, reply) => serve(request.url.split("?").slice(1).join("?"), reply));
    scope.post(HARVEST_PATH, (request, reply) => serve(String(request.body ?? ""), reply));
    scope.get(`${HARVEST_PATH}/${binding.schema.file}`, (_request, reply) =>
      reply.header("content-type", XML_TYPE).send(binding.schema.text),
    );
  });
}
