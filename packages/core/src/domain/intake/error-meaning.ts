import type { FieldError } from "@formbridge/contract";
import type { ErrorObject } from "ajv";
import type { Masking } from "../fields/mask.ts";
import { FILE_KEYWORD } from "./file-reference.ts";
import { passesSeveral } from "./meant-branch.ts";
import { isObject, schemaList, typesOf } from "./schema-nodes.ts";

/** One validator error in the contract's terms. */
export interface Meaning {
  segments: readonly string[];
  code: FieldError["code"];
  message: string;
  expected?: unknown;
  received: unknown;
  missing?: boolean;
}

interface Wording {
  code: FieldError["code"];
  /** Text that follows the field's name. */
  says: string;
  expected?: unknown;
}

type Params = Record<string, unknown>;

const plural = (count: unknown, noun: string, nouns = `${noun}s`) => `${String(count)} ${count === 1 ? noun : nouns}`;
const list = (values: readonly unknown[]) =>
  values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(", ");

const COMPARISONS: Record<string, string> = { "<=": "at most", ">=": "at least", "<": "less than", ">": "more than" };
const compared = ({ comparison, limit }: Params): Wording => ({
  code: "invalid_value",
  says: `must be ${COMPARISONS[String(comparison)] ?? String(comparison)} ${String(limit)}`,
  expected: limit,
});

const FORMATS: Record<string, string> = {
  "date-time": "date and time",
  email: "email",
  ipv4: "IPv4 address",
  ipv6: "IPv6 address",
  uri: "URI",
  url: "URL",
  uuid: "UUID",
};

const TYPES: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "text",
};
const typeNames = (types: readonly unknown[]) => types.map((type) => TYPES[String(type)] ?? String(type)).join(" or ");

/** What each keyword's failure means. A keyword that isn't listed is `custom`. */
const KEYWORDS: Record<string, (params: Params, error: ErrorObject) => Wording> = {
  type: ({ type }) => ({ code: "invalid_type", says: `must be ${typeNames([type].flat())}`, expected: type }),
  format: ({ format }) => ({
    code: "invalid_format",
    says: `must be a valid ${FORMATS[String(format)] ?? String(format)}`,
    expected: format,
  }),
  enum: ({ allowedValues }) => ({
    code: "invalid_value",
    says: `must be one of: ${list(schemaList(allowedValues))}`,
    expected: allowedValues,
  }),
  const: ({ allowedValue }) => ({
    code: "invalid_value",
    says: `must be ${list([allowedValue])}`,
    expected: allowedValue,
  }),
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  multipleOf: ({ multipleOf }) => ({
    code: "invalid_value",
    says: `must be a multiple of ${String(multipleOf)}`,
    expected: multipleOf,
  }),
  pattern: ({ pattern }) => ({
    code: "invalid_value",
    says: `must match the pattern ${String(pattern)}`,
    expected: pattern,
  }),
  uniqueItems: () => ({
    code: "invalid_value",
    says: "must not contain the same item twice",
    expected: "different items",
  }),
  maxLength: ({ limit }) => ({
    code: "too_long",
    says: `must have at most ${plural(limit, "character")}`,
    expected: limit,
  }),
  minLength: ({ limit }) => ({
    code: "too_short",
    says: `must have at least ${plural(limit, "character")}`,
    expected: limit,
  }),
  maxItems: ({ limit }) => ({ code: "too_long", says: `must have at most ${plural(limit, "item")}`, expected: limit }),
  minItems: ({ limit }) => ({
    code: "too_short",
    says: `must have at least ${plural(limit, "item")}`,
    expected: limit,
  }),
  maxProperties: ({ limit }) => ({
    code: "custom",
    says: `must have at most ${plural(limit, "entry", "entries")}`,
    expected: limit,
  }),
  minProperties: ({ limit }) => ({
    code: "custom",
    says: `must have at least ${plural(limit, "entry", "entries")}`,
    expected: limit,
  }),
  contains: (_, { schema }) => ({
    code: "custom",
    says: "has no item that matches the required schema",
    expected: schema,
  }),
  not: (_, { schema }) => ({ code: "custom", says: "has a value that isn't allowed", expected: { not: schema } }),
  "false schema": () => ({ code: "custom", says: "must be absent", expected: "no value" }),
  [FILE_KEYWORD]: () => ({ code: "invalid_type", says: "must be an uploaded file", expected: "file" }),
  anyOf: ofBranches,
  oneOf: ofBranches,
};

function ofBranches(_: Params, error: ErrorObject): Wording {
  const branches = schemaList(error.schema);
  if (passesSeveral(error))
    return { code: "custom", says: "matches more than one of its alternatives", expected: "exactly one alternative" };
  const fixed = branches.flatMap((branch) =>
    isObject(branch) && Object.hasOwn(branch, "const")
      ? [branch.const]
      : isObject(branch)
        ? schemaList(branch.enum)
        : [],
  );
  const allFixed = branches.every(
    (branch) => isObject(branch) && (Object.hasOwn(branch, "const") || Array.isArray(branch.enum)),
  );
  if (allFixed) return { code: "invalid_value", says: `must be one of: ${list(fixed)}`, expected: fixed };
  const types = branches.map((branch) => (isObject(branch) ? typesOf(branch) : undefined));
  const onlyTypes = branches.every((branch) => isObject(branch) && Object.keys(branch).join() === "type");
  if (onlyTypes) return { code: "invalid_type", says: `must be ${typeNames(types.flat())}`, expected: types.flat() };
  const needs = branches.map((branch) => (isObject(branch) ? schemaList(branch.required) : []));
  if (needs.every((names) => names.length > 0)) {
    const ways = needs.map((names) => names.join(" and "));
    return { code: "custom", says: `needs one of: ${ways.join(", ")}`, expected: ways };
  }
  return { code: "custom", says: "fits none of its forms", expected: branches };
}

/** Keywords whose failure is about a member of the value. */
const ABOUT_MEMBER: Record<string, string> = {
  required: "missingProperty",
  dependentRequired: "missingProperty",
  dependencies: "missingProperty",
  additionalProperties: "additionalProperty",
  unevaluatedProperties: "unevaluatedProperty",
  propertyNames: "propertyName",
};

export function meaningOf(error: ErrorObject, at: readonly string[], { ruleAt }: Masking): Meaning {
  const member = error.params[ABOUT_MEMBER[error.keyword] ?? ""];
  if (typeof member === "string") {
    const segments = [...at, member];
    return ABOUT_MEMBER[error.keyword] === "missingProperty"
      ? absent(segments, error, ruleAt(segments).file !== undefined)
      : unknownMember(segments, error);
  }
  const said = KEYWORDS[error.keyword]?.(error.params, error) ?? {
    code: "custom" as const,
    says: `does not satisfy ${error.keyword}`,
    expected: error.schema,
  };
  return {
    segments: at,
    code: said.code,
    message: `${labelOf(at)} ${said.says}`,
    expected: said.expected,
    received: error.data,
  };
}

function absent(segments: readonly string[], error: ErrorObject, file: boolean): Meaning {
  const declared = isObject(error.parentSchema) ? error.parentSchema.properties : undefined;
  const schema = isObject(declared) ? declared[segments.at(-1) ?? ""] : undefined;
  const expected = file ? "file" : isObject(schema) ? (schema.type ?? "value") : "value";
  return {
    segments,
    code: file ? "file_required" : "required",
    message: `${labelOf(segments)} is required`,
    expected,
    received: null,
    missing: true,
  };
}

function unknownMember(segments: readonly string[], error: ErrorObject): Meaning {
  const name = segments.at(-1) ?? "";
  const value = isObject(error.data) && Object.hasOwn(error.data, name) ? error.data[name] : null;
  const bad = error.keyword === "propertyNames";
  return {
    segments,
    code: "custom",
    message: bad ? `${labelOf(segments)} has a name that is not allowed` : notAField(segments),
    expected: bad ? error.schema : "no value",
    received: value,
  };
}

export const notAField = (segments: readonly string[]): string => `${labelOf(segments)} is not a field of this intake`;

const labelOf = (segments: readonly string[]): string =>
  segments.length === 0 ? "the submission" : segments.join(".");
