import { isIPv4 } from "node:net";
import { ContractError } from "@formbridge/core";
import type { FastifyRequest } from "fastify";

function isLoopback(address: string | undefined): boolean {
  if (address === "127.0.0.1" || address === "::1") return true;
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return isIPv4(plain) && plain.startsWith("127.");
}

/** Paths without secrets. */
const OPEN = ["/healthz", "/readyz", "/openapi.json", "/docs", "/oai"];

/**
 * Refuses unencrypted requests from other machines: every endpoint may carry a token, session or key. An operator with a TLS proxy
 * in front disables this with FORMBRIDGE_TRUST_PROXY.
 */
export function refuseTokensInClear(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  const isFine = isLoopback(request.socket.remoteAddress) || OPEN.some((path) => request.url.startsWith(path));
  const words = "Tokens, sessions and keys need TLS: put a TLS proxy in front and set FORMBRIDGE_TRUST_PROXY.";
  done(isFine ? undefined : new ContractError("forbidden", words));
}
