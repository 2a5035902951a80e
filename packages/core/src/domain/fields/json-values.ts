import type { Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";

export const MAX_DEPTH = 64;
/** Names that could reach the prototype of the object that holds them. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of its own: `toString` is none unless somebody set it. */
export function own(container: JsonObject | Json[], segment: string): Json | undefined {
  return Object.hasOwn(container, segment) ? (container as JsonObject)[segment] : undefined;
}

/** Refuses what can't be kept safely: reserved names at any depth, what is too deep, what is not JSON. */
export function assertStorable(value: unknown, path: readonly string[] = []): void {
  for (const segment of path) assertName(segment);
  visit(value, path.length);
}

function visit(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) {
    const storable =
      value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
    if (!storable) throw new ContractError("bad_request", "The fields hold a value that is not JSON.");
    return;
  }
  if (depth > MAX_DEPTH)
    throw new ContractError("bad_request", `The fields are nested deeper than ${MAX_DEPTH} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) visit(item, depth + 1);
    return;
  }
  for (const name of Object.keys(value)) {
    assertName(name);
    visit((value as Record<string, unknown>)[name], depth + 1);
  }
}

/** A path is written down for every value below it: a long name would be written as often. */
const MAX_NAME = 256;

function assertName(name: string): void {
  if (name.length > MAX_NAME)
    throw new ContractError("bad_request", `The name of a field has at most ${MAX_NAME} characters.`);
  if (RESERVED.has(name)) throw new ContractError("bad_request", `${name} can't be the name of a field.`);
}
