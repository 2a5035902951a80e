import type { FieldError } from "@formbridge/contract";
import { FORM_TEXTS, type FormTextId, type Translate } from "../texts.ts";

/** What is wrong with each field, by its dotted path. */
export type ErrorsByPath = ReadonlyMap<string, readonly string[]>;

export function errorsByPath(errors: readonly FieldError[], t: Translate): ErrorsByPath {
  const found = new Map<string, string[]>();
  for (const error of errors) {
    const words = wordsFor(error, t);
    const known = found.get(error.path) ?? [];
    if (!known.includes(words)) found.set(error.path, [...known, words]);
  }
  return found;
}

/** What is wrong, in the reader's language. The server's own words are English, and name paths. */
export function wordsFor(error: FieldError, t: Translate): string {
  const { code, expected } = error;
  if (code === "invalid_value" && typeof expected === "number") {
    const isTooSmall = typeof error.received === "number" && error.received < expected;
    return t(isTooSmall ? "error.min" : "error.max", { expected });
  }
  const id = `error.${code}`;
  return code === "custom" || !Object.hasOwn(FORM_TEXTS, id) ? error.message : t(id as FormTextId);
}
