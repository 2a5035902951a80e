import { hash } from "node:crypto";

/** SHA-256, lower-case hex. */
export type Hash = string;

export const sha256 = (text: string): Hash => hash("sha256", text, "hex");

/**
 * RFC 8785 (JCS): one text for equal JSON values. `JSON.stringify` already writes numbers and strings as the standard requires, so
 * only the order of keys is left: by UTF-16 code units. Faster than the `canonicalize` package, which a test compares it with;
 * `node bench/canonical-json.ts` measures both.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null || isInOrder(value)) return serialize(finite(value));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let members = "";
  for (const key of sortKeys(Object.keys(value))) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

function serialize(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("only JSON values have a canonical form");
  return text;
}

function finite(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("JSON has no such number");
  return value;
}

/** Most values that we hash have their keys in order already, so one `JSON.stringify` does. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return finite(value) === value;
  if (Array.isArray(value)) return value.every(isInOrder);
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before || !isInOrder((value as Record<string, unknown>)[key])) return false;
    before = key;
  }
  return true;
}

const FEW = 16;

/** An insertion sort: for a few keys, `sort` costs more than the rest of the serialization. */
function sortKeys(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}
