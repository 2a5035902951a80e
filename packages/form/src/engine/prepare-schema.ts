import type { RJSFSchema } from "@rjsf/utils";
import { isObject } from "./changes.ts";
import { type PointerOf, pointersIn } from "./references.ts";
import { rewriteAlternatives } from "./rewrite-alternatives.ts";

/** A JSON Schema as written in an intake: 2020-12, or draft-07. */
export type JsonSchema = Record<string, unknown>;

/** On a schema that says nothing about its value. */
export const ANYTHING = "x-anything";

export interface Preparing {
  root: JsonSchema;
  pointerOf: PointerOf;
  /** Adds to a place that another schema describes too, so nothing can be concluded from what it leaves out. */
  isPart?: boolean;
}

/**
 * Rewrites a schema into what the form engine resolves and our fields draw. The engine reads draft-07 only and guesses
 * nothing about a schema without a type; a form must show every field and must never fill in what nobody chose.
 */
export function prepareSchema(root: JsonSchema): RJSFSchema {
  const { $id: _id, $schema: _schema, ...schema } = root;
  return prepare(schema, { root, pointerOf: pointersIn(root) }) as RJSFSchema;
}

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. `if` and `not` only test values, as they are. */
const SCHEMA = new Set(["items", "additionalItems", "additionalProperties", "then", "else"]);
const LIST = new Set(["allOf", "anyOf", "oneOf"]);
const MAP = new Set(["properties", "patternProperties", "$defs", "definitions"]);
/** Keywords whose schemas describe the same place as the one that contains them. */
const PARTS = new Set(["allOf", "anyOf", "oneOf", "then", "else", "dependencies"]);
/** Rewritten below, or of no use to a form. */
const LEFT_OUT = new Set(["default", "deprecated", "nullable", "dependentRequired", "dependentSchemas", "prefixItems"]);

function prepare(schema: unknown, { isPart = false, ...preparing }: Preparing): unknown {
  if (schema === true) return isPart ? {} : prepareAnything();
  if (!isObject(schema)) return schema;
  const prepared: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!LEFT_OUT.has(keyword)) prepared[keyword] = prepareKeyword(keyword, value, preparing);
  }
  if (typeof prepared.$dynamicRef === "string" && prepared.$ref === undefined) prepared.$ref = prepared.$dynamicRef;
  if (typeof prepared.$ref === "string") prepared.$ref = preparing.pointerOf(prepared.$ref);
  if (Array.isArray(schema.prefixItems)) {
    prepared.additionalItems = prepared.items ?? true;
    prepared.items = schema.prefixItems.map((item) => prepare(item, preparing));
  }
  const dependencies = dependenciesOf(schema, preparing);
  if (dependencies !== undefined) prepared.dependencies = { ...(prepared.dependencies as object), ...dependencies };
  const rewritten = rewriteAlternatives(withoutNull(prepared), preparing);
  return isPart ? rewritten : withType(rewritten);
}

function prepareKeyword(keyword: string, value: unknown, preparing: Preparing): unknown {
  const isPart = PARTS.has(keyword);
  const inner = (each: unknown) => prepare(each, { ...preparing, isPart });
  if (LIST.has(keyword) && Array.isArray(value)) return value.map(inner);
  if (MAP.has(keyword)) return mapValues(value, inner);
  if (keyword === "dependencies") return mapValues(value, (each) => (Array.isArray(each) ? each : inner(each)));
  if (!SCHEMA.has(keyword) || typeof value === "boolean") return value;
  return Array.isArray(value) ? value.map(inner) : inner(value);
}

const mapValues = (value: unknown, change: (each: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries((value ?? {}) as JsonSchema).map(([name, each]) => [name, change(each)]));

function dependenciesOf({ dependentRequired, dependentSchemas }: JsonSchema, preparing: Preparing) {
  if (dependentRequired === undefined && dependentSchemas === undefined) return undefined;
  const dependencies: JsonSchema = mapValues(dependentSchemas, (each) => prepare(each, { ...preparing, isPart: true }));
  for (const [name, needed] of Object.entries((dependentRequired ?? {}) as Record<string, string[]>)) {
    const schema = Object.hasOwn(dependencies, name) ? dependencies[name] : undefined;
    dependencies[name] = schema === undefined ? needed : { allOf: [schema, { required: needed }] };
  }
  return dependencies;
}

/** An emptied field is absent, so a form has no use for null beside other values. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  const rest = { ...schema };
  if (Array.isArray(type) && type.length > 1) rest.type = alone(type.filter((each) => each !== "null"));
  if (Array.isArray(values) && values.length > 1) rest.enum = values.filter((value) => value !== null);
  return rest;
}

const alone = (types: unknown[]): unknown => (types.length === 1 ? types[0] : types);

/** Keywords that leave the type to another schema at the same place. */
const ELSEWHERE = ["$ref", "oneOf", "anyOf", "allOf"];
const OF_OBJECTS = ["properties", "additionalProperties", "patternProperties", "required", "dependencies", "if"];
const OF_NUMBERS = ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"];
const OF_TEXT = ["minLength", "maxLength", "pattern", "format"];

/** What a schema without a type must mean. A file is rendered by its own field, whatever its type. */
export function withType(schema: JsonSchema): JsonSchema {
  const has = (keywords: string[]) => keywords.some((keyword) => keyword in schema);
  if (schema["x-file"] !== undefined || "enum" in schema || "const" in schema) return schema;
  if (schema.type === "array") return "items" in schema ? schema : { ...schema, items: prepareAnything() };
  if (schema.type === "object") return isFree(schema) ? { ...schema, additionalProperties: true } : schema;
  if (schema.type !== undefined || has(ELSEWHERE)) return schema;
  if (has(OF_OBJECTS)) return withType({ ...schema, type: "object" });
  if (has(["items", "minItems", "maxItems", "uniqueItems"])) return withType({ ...schema, type: "array" });
  if (has(OF_NUMBERS)) return { ...schema, type: "number" };
  return has(OF_TEXT) ? { ...schema, type: "string" } : { ...schema, ...prepareAnything() };
}

export const prepareAnything = (): JsonSchema => ({ type: "string", [ANYTHING]: true });

/** An object without declared properties: people name its members themselves. */
const isFree = (schema: JsonSchema): boolean => ![...ELSEWHERE, ...OF_OBJECTS].some((keyword) => keyword in schema);
