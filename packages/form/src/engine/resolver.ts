import { ADDITIONAL_PROPERTY_FLAG, createSchemaUtils, RJSF_REF_CYCLE_KEY, type RJSFSchema } from "@rjsf/utils";
import { type JsonSchema, withType } from "./prepare-schema.ts";
import { createValidator } from "./validator.ts";

/** Nothing is filled in that nobody chose: not a default, not a constant, not the first item of a list. */
const NO_DEFAULTS = {
  emptyObjectFields: "skipDefaults",
  arrayMinItems: { populate: "never" },
  constAsDefaults: "never",
  allOf: "skipDefaults",
} as const;

/** What the form engine knows about a prepared schema: which fields there are for a value, and whether a value is valid. */
export interface Resolver {
  resolve(schema: JsonSchema, value: unknown): JsonSchema;
  fits(schema: JsonSchema, value: unknown): boolean;
}

export function createResolver(root: RJSFSchema): Resolver {
  const validator = createValidator();
  const utils = createSchemaUtils(validator, root, NO_DEFAULTS);
  return {
    resolve: (schema, value) =>
      isPlain(schema) ? schema : withType(utils.retrieveSchema(schema, value) as JsonSchema),
    fits: (schema, value) => validator.isValid(schema, value, root),
  };
}

/** The engine's marks are symbols, which no schema of an intake can hold. */
const isMarked = (schema: JsonSchema, mark: symbol): boolean => (schema as Record<symbol, unknown>)[mark] === true;

/** A field of a recursive schema: drawn on demand. */
export const isCircular = (schema: JsonSchema): boolean => isMarked(schema, RJSF_REF_CYCLE_KEY);
export const withoutMark = (schema: JsonSchema): JsonSchema =>
  isCircular(schema) ? { ...schema, [RJSF_REF_CYCLE_KEY]: false } : schema;
/** A member that the schema does not name. */
export const isEntry = (schema: JsonSchema): boolean => isMarked(schema, ADDITIONAL_PROPERTY_FLAG);

/** A control's schema holds nothing to resolve; most fields are controls. */
const isPlain = ({ type, ...schema }: JsonSchema): boolean =>
  type !== "object" &&
  type !== "array" &&
  !["$ref", "allOf", "anyOf", "oneOf", "if", "dependencies"].some((keyword) => keyword in schema);
