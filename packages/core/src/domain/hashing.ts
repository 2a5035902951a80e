import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** SHA-256, lower-case hex. */
export type Hash = string;

export const sha256 = (text: string): Hash => hash("sha256", text, "hex");

/** RFC 8785: one spelling for equal JSON values. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("only JSON values have a canonical form");
  return text;
}
