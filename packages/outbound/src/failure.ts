import type { Receipt } from "@formbridge/core";

/** A failure with our own message, which may be shown. */
export class Refusal extends Error {
  override name = "Refusal";
  /** Whether retrying is pointless. */
  readonly final: boolean;

  constructor(words: string, final?: "final") {
    super(words);
    this.final = final === "final";
  }
}

export const ACCEPTED: Receipt = { kind: "accepted" };

const CODES: Record<string, string> & Record<"ECONNRESET" | "ETIMEDOUT", string> = {
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it broke the connection",
  EPIPE: "it broke the connection",
  UND_ERR_SOCKET: "it broke the connection",
  ETIMEDOUT: "no connection could be made in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be made in time",
  EHOSTUNREACH: "no route to its host",
  ENETUNREACH: "no route to its network",
  ENOTFOUND: "its host name is unknown",
  EAI_AGAIN: "its host name can't be resolved now",
  UND_ERR_HEADERS_OVERFLOW: "its response is not valid HTTP",
};

/**
 * A message that is safe to show: our own, or one for the error's code. The error's own message may quote addresses,
 * credentials and data.
 */
export function wordsOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Error && error.name === "TimeoutError") return CODES.ETIMEDOUT;
  const code = codeOf(error);
  if (code === undefined) return isBreak(error) ? CODES.ECONNRESET : "the attempt failed";
  if (/CERT|ERR_TLS|_SSL_|VERIFY|SELF_SIGNED/.test(code)) return `its certificate can't be trusted (${code})`;
  if (code.startsWith("HPE_")) return "its response is not valid HTTP";
  return CODES[code] ?? `the attempt failed (${code})`;
}

/** Queue clients report a lost connection in their own ways. */
const isBreak = (error: unknown): boolean => error instanceof Error && /clos|disconnect/i.test(error.message);

/** Node combines the errors of several addresses into one, and clients wrap them. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === "string" && /^[A-Z0-9_]{3,60}$/.test(code)) return code;
  return codeOf(cause) ?? codeOf(errors?.[0]);
}
