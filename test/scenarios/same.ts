import type { Loose } from "../support/harness.ts";

const SECRET = /\b(sub|evt|hof|upl|dlv|key|rtok|sess)_[\w-]{20,}/g;
const HASH = /\b[0-9a-f]{64}\b/g;
const GRANT = /\bgrant=[\w.-]+/g;
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const PORT = /127\.0\.0\.1:\d+/g;

/**
 * Names for ids, tokens and hashes, in the order in which they were first seen, and for instants, from the start on: two runs that went
 * the same way have the same ones.
 */
export function createNames(start: number): { rename(value: unknown): Loose } {
  const names = new Map<string, string>();
  const nameOf = (found: string, kind: string): string => {
    const known = names.get(found);
    if (known !== undefined) return known;
    const name = `${kind}#${names.size + 1}`;
    names.set(found, name);
    return name;
  };
  const nameAll = (text: string): string =>
    text
      .replaceAll(SECRET, nameOf)
      .replaceAll(GRANT, "grant=…")
      .replaceAll(HASH, (hash) => nameOf(hash, "hash"))
      .replaceAll(INSTANT, (at) => `${Date.parse(at) - start} ms`)
      .replaceAll(PORT, "here");
  const rename = (value: unknown): Loose => {
    if (typeof value === "string") return nameAll(value);
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [rename(key), rename(inner)]));
  };
  return { rename };
}

/**
 * What a line must have in common on every way. Over MCP, errors say in the words of tools what to do next, and propose how; both
 * have their own tests.
 */
export function inCommon(line: Loose): Loose {
  const { error } = line.body ?? {};
  if (error === undefined) return line;
  const { nextActions: _next, proposal: _proposal, ...rest } = error;
  return { ...line, body: { ...line.body, error: rest } };
}
