import type { Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { canonicalJson } from "../hashing.ts";

export const MAX_DEPTH = 64;
/** Names that could reach an object's prototype. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Equal as canonical JSON: the order of members doesn't matter. */
export const isSameJson = (one: Json | undefined, other: Json): boolean =>
  one === other || (one !== undefined && canonicalJson(one) === canonicalJson(other));

/** An own member: `toString` doesn't exist unless somebody set it. */
export function own(container: JsonObject | Json[], segment: string): Json | undefined {
  return Object.hasOwn(container, segment) ? (container as JsonObject)[segment] : undefined;
}

/** Refuses what can't be stored safely: reserved names at any depth, too deep nesting, anything that isn't JSON. */
export function assertStorable(value: unknown, path: readonly string[] = []): void {
  for (const segment of path) assertName(segment);
  visit(value, path.length);
}

function visit(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) {
    const storable =
      value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
    if (!storable) throw new ContractError("bad_request", "A field has a value that isn't JSON.");
    return;
  }
  if (depth > MAX_DEPTH)
    throw new ContractError("bad_request", `The fields are nested deeper than ${MAX_DEPTH} levels. Flatten them.`);
  if (Array.isArray(value)) {
    for (const item of value) visit(item, depth + 1);
    return;
  }
  for (const name of Object.keys(value)) {
    assertName(name);
    visit((value as Record<string, unknown>)[name], depth + 1);
  }
}

/** A path is recorded for every value below it, so a long name would be repeated often. */
const MAX_NAME = 256;

function assertName(name: string): void {
  if (name.length > MAX_NAME)
    throw new ContractError("bad_request", `A field name can have at most ${MAX_NAME} characters.`);
  if (RESERVED_NAMES.has(name))
    throw new ContractError("bad_request", `${name} isn't allowed as a field name. Use another one.`);
}
