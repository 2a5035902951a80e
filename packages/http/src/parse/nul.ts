import { ContractError } from "@formbridge/core";
import type { FastifyRequest } from "fastify";

const NUL = "\0";

/**
 * No id contains a NUL character, and PostgreSQL rejects it even in a query, so refuse it before it reaches a store.
 * Links and tokens are left to their operations, which report them as malformed.
 */
export function refuseNul(request: FastifyRequest): void {
  // Node's HTTP parser rejects a raw NUL.
  if (!request.url.includes("%00")) return;
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    if (name.includes(NUL) || [value].flat().join().includes(NUL)) {
      throw new ContractError(
        "bad_request",
        `The query parameter ${printable(name)} contains a NUL character. Remove it.`,
      );
    }
  }
  const isLink = /^\/(resume|reviews)\//.test(request.url);
  for (const value of Object.values(request.params as Record<string, string>)) {
    if (value.includes(NUL) && !isLink && !value.startsWith("rtok_")) {
      throw new ContractError("not_found", "This path doesn't exist.");
    }
  }
}

const printable = (name: string): string => name.replaceAll(NUL, "").slice(0, 100);
