import { hash } from "node:crypto";

/** SHA-256, lower-case hex. */
export type Hash = string;

export const sha256 = (text: string): Hash => hash("sha256", text, "hex");

/**
 * RFC 8785: one spelling for equal JSON values. For what came from JSON, the standard asks for nothing but keys in the order
 * of their code units: numbers and strings are already spelled by `JSON.stringify` as it wants them.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null || isInOrder(value)) return spelled(finite(value));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let members = "";
  for (const key of sorted(Object.keys(value))) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

function spelled(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("only JSON values have a canonical form");
  return text;
}

function finite(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("JSON has no such number");
  return value;
}

/** Most of what we hash has its keys in order already, and is spelled in one go. */
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

/** Sorts in place; `sort` asks for memory that a few keys do not need. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}
