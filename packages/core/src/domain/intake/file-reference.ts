import type { FileReference, FileRule } from "@formbridge/contract";
import { isObject } from "./schema-nodes.ts";

/** The keyword that replaces `x-file` for validation. */
export const FILE_KEYWORD = "fileReference";

const TEXTS = ["uploadId", "filename", "mimeType", "sha256"] as const;
const KNOWN: ReadonlySet<string> = new Set([...TEXTS, "sizeBytes", "url"]);

/** A custom keyword instead of a schema, so that a wrong reference is one error and not one for each of its members. */
export function isFileReference(value: unknown): value is FileReference {
  if (!isObject(value)) return false;
  const { sizeBytes, url } = value;
  return (
    TEXTS.every((name) => typeof value[name] === "string") &&
    typeof sizeBytes === "number" &&
    Number.isInteger(sizeBytes) &&
    sizeBytes >= 0 &&
    (url === undefined || typeof url === "string") &&
    Object.keys(value).every((name) => KNOWN.has(name))
  );
}

export function fileSchema(rule: FileRule, minItems: unknown): Record<string, unknown> {
  const one = { [FILE_KEYWORD]: true };
  if ((rule.maxFiles ?? 1) <= 1) return one;
  const least = typeof minItems === "number" ? { minItems } : {};
  return { type: "array", items: one, maxItems: rule.maxFiles, ...least };
}
