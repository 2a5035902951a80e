import { isObject } from "./changes.ts";
import type { JsonSchema, Preparing } from "./prepare-schema.ts";
import { resolved } from "./references.ts";

/**
 * `oneOf` and `anyOf` are written for many reasons, and only one of them is a question to a person: "which kind is it?"
 * The others are rewritten into what they mean for a form: a nullable field, a field of several formats, fields that
 * depend on another answer, or a rule that only the server checks.
 */
export function rewriteAlternatives(schema: JsonSchema, preparing: Preparing): JsonSchema {
  let rewritten = withUnionOfTypes(schema);
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const options = rewritten[keyword];
    if (!Array.isArray(options)) continue;
    const { [keyword]: _options, ...rest } = rewritten;
    rewritten = rewrite({ rest, keyword, options: options.filter(isObject), preparing });
  }
  return rewritten;
}

interface Alternatives {
  /** The schema without the keyword. */
  rest: JsonSchema;
  keyword: "oneOf" | "anyOf";
  options: JsonSchema[];
  preparing: Preparing;
}

function rewrite({ rest, keyword, options, preparing }: Alternatives): JsonSchema {
  const { root, pointerOf } = preparing;
  const left = options.filter((option) => !isNull(option));
  const [only] = left;
  if (only === undefined) return rest;
  if (left.length === 1) return merged(rest, only);
  const full = left.map((option) => resolved(option, root, pointerOf));
  if (full.every(isConstant)) return { ...rest, [keyword]: left };
  const type = typeOfAll(full.map((option) => ({ ...(rest.type !== undefined && { type: rest.type }), ...option })));
  if (type !== undefined) return { ...rest, type };
  const base = namesIn(rest);
  if (full.every((option) => isRule(option, base))) return rest;
  const decided = deciderIn(full, base);
  return decided === undefined
    ? { ...rest, [keyword]: left }
    : dependingOn(decided, { rest, keyword, options: full, preparing });
}

/** A list of types is a choice between them; typed text is text, where text is allowed. */
function withUnionOfTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  const types = new Set(type);
  if (types.has("number")) types.delete("integer");
  if ([...types].every((each) => PRIMITIVE.has(each)) && types.has("string")) return { ...rest, type: "string" };
  if (types.size === 1) return { ...rest, type: [...types][0] };
  const { title, description, anyOf, ...keywords } = rest;
  if (anyOf !== undefined) return { ...rest, type: [...types][0] };
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: [...types].map((each) => ({ ...keywords, type: each })),
  };
}

const PRIMITIVE = new Set(["string", "number", "integer", "boolean"]);

const isNull = (schema: JsonSchema): boolean =>
  schema.type === "null" ||
  schema.const === null ||
  (Array.isArray(schema.enum) && schema.enum.every((each) => each === null));

const isConstant = (schema: JsonSchema): boolean =>
  "const" in schema || (Array.isArray(schema.enum) && schema.enum.length === 1);

/** Keywords beside the alternatives describe this place better than the alternatives do. */
function merged(rest: JsonSchema, option: JsonSchema): JsonSchema {
  const { title, description, ...beside } = rest;
  const clashes = Object.keys(beside).some((keyword) => keyword in option && keyword !== "type");
  if (clashes) return { ...rest, allOf: [...((rest.allOf ?? []) as unknown[]), option] };
  return {
    ...beside,
    ...option,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}

/** One box takes all of them when they differ in format or limits only. */
function typeOfAll(options: JsonSchema[]): string | undefined {
  if (options.some((option) => "enum" in option || "const" in option || "x-file" in option)) return undefined;
  const types = new Set(options.map(({ type }) => (type === "integer" ? "number" : type)));
  const [type] = types;
  return types.size === 1 && typeof type === "string" && PRIMITIVE.has(type) ? type : undefined;
}

const namesIn = ({ properties }: JsonSchema): ReadonlySet<string> =>
  new Set(isObject(properties) ? Object.keys(properties) : []);

/** Adds no field: it says which of the fields go together. */
function isRule(option: JsonSchema, base: ReadonlySet<string>): boolean {
  const adds = ["items", "additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "if", "dependencies"];
  if (adds.some((keyword) => keyword in option) || (option.type !== undefined && option.type !== "object"))
    return false;
  return base.size > 0 && [...namesIn(option)].every((name) => base.has(name));
}

/** A field beside the alternatives that already says which of them it is. */
function deciderIn(options: JsonSchema[], base: ReadonlySet<string>): string | undefined {
  return [...base].find((name) => options.every((option) => isDecided(propertyOf(option, name))));
}

const isDecided = (schema: JsonSchema | undefined): boolean =>
  schema !== undefined && ("const" in schema || Array.isArray(schema.enum));

/** The schema of a declared property. */
export function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(member) ? member : undefined;
}

function dependingOn(decider: string, { rest, options }: Alternatives): JsonSchema {
  const conditions = options.map((option) => {
    const { [decider]: decided, ...properties } = option.properties as JsonSchema;
    return {
      if: { properties: { [decider]: decided }, required: [decider] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
      then: { ...option, properties },
    };
  });
  return { ...rest, allOf: [...((rest.allOf ?? []) as unknown[]), ...conditions] };
}
