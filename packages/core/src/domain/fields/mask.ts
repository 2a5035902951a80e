import type { Json, JsonObject } from "@formbridge/contract";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { pointerSegments, toPointer } from "../intake/schema-nodes.ts";

export const MASK = "[sensitive]";

export type Masking = Pick<CompiledIntake, "ruleAt" | "hasSensitive">;

/** The fields as anybody may see them. The same object when nothing in the schema is sensitive. */
export function maskFields(fields: JsonObject, intake: Masking): JsonObject {
  return splitSensitive(fields, intake).open;
}

/** A value that stands at `path`, masked where it or what is inside it is sensitive. */
export function maskValue(value: unknown, path: readonly string[], intake: Masking): unknown {
  return intake.hasSensitive ? open(value, path, { intake }) : value;
}

/** Is what stands at `path` masked, by itself or by something around it? */
export const isMaskedAt = (path: readonly string[], intake: Masking): boolean =>
  intake.hasSensitive && path.some((_, depth) => intake.ruleAt(path.slice(0, depth + 1)).sensitive);

/**
 * The fields in two parts: `open` is masked and safe to store as it is; `sealed` holds the sensitive values, each under its
 * JSON pointer.
 */
export function splitSensitive(fields: JsonObject, intake: Masking): { open: JsonObject; sealed?: JsonObject } {
  if (!intake.hasSensitive) return { open: fields };
  const sealed: JsonObject = {};
  const masked = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, open(value, [name], { intake, sealed }) as Json]),
  );
  return Object.keys(sealed).length === 0 ? { open: fields } : { open: masked, sealed };
}

function open(value: unknown, path: readonly string[], to: { intake: Masking; sealed?: JsonObject }): unknown {
  if (to.intake.ruleAt(path).sensitive) {
    if (to.sealed !== undefined) to.sealed[toPointer(path)] = value as Json;
    return MASK;
  }
  if (Array.isArray(value)) return value.map((item, index) => open(item, [...path, String(index)], to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, open(inner, [...path, name], to)]));
}

/** Undoes `splitSensitive`. */
export function joinSensitive(open: JsonObject, sealed: JsonObject | undefined): JsonObject {
  if (sealed === undefined) return open;
  const joined = structuredClone(open);
  for (const [pointer, value] of Object.entries(sealed)) {
    const path = pointerSegments(pointer);
    const last = path.pop();
    let here: Json = joined;
    for (const segment of path) here = memberOf(here, segment);
    if (last !== undefined && typeof here === "object" && here !== null) Object.assign(here, { [last]: value });
  }
  return joined;
}

function memberOf(value: Json, segment: string): Json {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
    throw new Error("sealed values belong to other fields");
  }
  return (value as JsonObject)[segment] ?? null;
}
