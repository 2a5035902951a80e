import type { Json, JsonObject } from "@formbridge/contract";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { pointerSegments, toPointer } from "../intake/schema-nodes.ts";

/** The mask at rest, in events and in findings. */
export const MASK = "[sensitive]";

/** The mask in `fields` of responses. Not a string, so that one sent back differs from anything somebody typed. */
export const MASKED: JsonObject = Object.freeze({ masked: true });

export const isMasked = (value: Json | undefined): boolean =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  value.masked === true &&
  Object.keys(value).length === 1;

export type Masking = Pick<CompiledIntake, "ruleAt" | "hasSensitive">;

/** The masked fields. Returns the same object if nothing in the schema is sensitive. */
export const maskFields = (fields: JsonObject, intake: Masking): JsonObject =>
  maskShown(fields, [], intake) as JsonObject;

/** A field value, masked for responses. */
export const maskShown = (value: Json, path: readonly string[], intake: Masking): Json =>
  intake.hasSensitive ? (open(value, path, { intake, mask: MASKED }) as Json) : value;

/** The value at `path`, masked where it or something inside it is sensitive. */
export function maskValue(value: unknown, path: readonly string[], intake: Masking): unknown {
  return intake.hasSensitive ? open(value, path, { intake, mask: MASK }) : value;
}

/** Whether the value at `path` is masked, itself or as part of something masked. */
export const isMaskedAt = (path: readonly string[], intake: Masking): boolean =>
  intake.hasSensitive && path.some((_, depth) => intake.ruleAt(path.slice(0, depth + 1)).sensitive);

/** Splits the fields: `open` is masked and safe to store as is; `sealed` holds the sensitive values by JSON pointer. */
export function splitSensitive(fields: JsonObject, intake: Masking): { open: JsonObject; sealed?: JsonObject } {
  if (!intake.hasSensitive) return { open: fields };
  const sealed: JsonObject = {};
  const masked = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, open(value, [name], { intake, sealed, mask: MASK }) as Json]),
  );
  return Object.keys(sealed).length === 0 ? { open: fields } : { open: masked, sealed };
}

function open(
  value: unknown,
  path: readonly string[],
  to: { intake: Masking; sealed?: JsonObject; mask: Json },
): unknown {
  if (to.intake.ruleAt(path).sensitive) {
    if (to.sealed !== undefined) to.sealed[toPointer(path)] = value as Json;
    return to.mask;
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
