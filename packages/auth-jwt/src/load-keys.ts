import { readFile } from "node:fs/promises";
import type { Issuer } from "./issuer.ts";
import { type KeySet, readKeySet } from "./key-set.ts";

const MAX_BYTES = 1_048_576;
const OK = 200;

/** Fetches or reads an issuer's keys. Rejects with an error whose message says why. */
export async function loadKeys(issuer: Issuer, { timeoutMs }: { timeoutMs: number }): Promise<KeySet> {
  const text =
    issuer.jwksUri === undefined
      ? await readFile(issuer.jwksFile ?? "", "utf8")
      : await fetchText(issuer.jwksUri, timeoutMs);
  return readKeySet(parse(text));
}

/** Where the keys are, safe to show: a query string could contain a secret. */
export const placeOfKeys = ({ jwksUri, jwksFile = "" }: Issuer): string => jwksUri?.replace(/[?#].*$/, "") ?? jwksFile;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the text.
    throw new Error("it is not JSON");
  }
}

async function fetchText(url: string, timeoutMs: number): Promise<string> {
  try {
    // Following a redirect would move trust to a host that nobody configured.
    const response = await fetch(url, {
      redirect: "manual",
      headers: { accept: "application/jwk-set+json, application/json" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === OK) return await bounded(response);
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  } catch (error) {
    throw plainly(error, timeoutMs);
  }
}

async function bounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** `fetch failed` says nothing; its cause does. */
function plainly(error: unknown, timeoutMs: number): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error.name === "TimeoutError") return new Error(`it did not respond within ${timeoutMs} ms`);
  return error.cause instanceof Error ? new Error(error.cause.message || error.cause.name, { cause: error }) : error;
}
