import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { checkIssuers, type Issuer, readKeySet } from "@formbridge/auth-jwt";

/** Reads the trusted issuers from JSON, or from a file with that name. Throws an error that says what is wrong. */
export function readIssuers(text: string): Issuer[] {
  const isInline = text.trimStart().startsWith("[");
  const value = isInline ? parse(text, "it") : parse(readText(text), text);
  const issuers = checkIssuers(value).map((issuer) =>
    issuer.jwksFile === undefined ? issuer : { ...issuer, jwksFile: resolve(issuer.jwksFile) },
  );
  for (const [index, { jwksFile }] of issuers.entries()) {
    if (jwksFile !== undefined) checkKeyFile(jwksFile, `${index}.jwksFile`);
  }
  return issuers;
}

function checkKeyFile(file: string, place: string): void {
  const value = parse(readText(file), file);
  try {
    readKeySet(value);
  } catch (error) {
    throw new Error(`${place} ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`${JSON.stringify(file)} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is not valid JSON`);
  }
}
