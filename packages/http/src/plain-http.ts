import { isIPv4 } from "node:net";
import { ContractError } from "@formbridge/core";
import type { FastifyRequest } from "fastify";

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}

/** Tokens and keys are not taken over a wire that others can read; an operator with a TLS proxy in front says so. */
export async function refuseTokensInClear(request: FastifyRequest): Promise<void> {
  if (isLoopback(request.socket.remoteAddress)) return;
  const carries =
    request.headers.authorization !== undefined ||
    request.headers["if-match"] !== undefined ||
    request.url.includes("rtok_");
  if (!carries) return;
  throw new ContractError(
    "forbidden",
    "Tokens and keys need TLS: put a TLS proxy in front and set FORMBRIDGE_TRUST_PROXY.",
  );
}
