import type { FileRule } from "@formbridge/contract";
import { _, Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { canonicalJson } from "../hashing.ts";
import { FILE_KEYWORD, fileSchema, isFileReference } from "./file-reference.ts";
import { isMultipleOf } from "./multiple-of.ts";
import { isObject, LIST_OF_SCHEMAS, localRef, NAMED_SCHEMAS, ONE_SCHEMA, type SchemaNode } from "./schema-nodes.ts";

export type JsonSchemaValidator = Ajv | Ajv2020;

/** Annotations that ajv doesn't know. */
const ANNOTATIONS = ["$anchor", "example"];

export const isDraft07 = (schema: SchemaNode): boolean =>
  typeof schema.$schema === "string" && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(schema.$schema);

export function createAjv(schema: SchemaNode, options: { allErrors: boolean }): JsonSchemaValidator {
  const settings = {
    allErrors: options.allErrors,
    strict: false,
    strictSchema: true,
    strictNumbers: true,
    allowUnionTypes: true,
    // The schema was checked at registration; compiling the meta-schema would take longer than everything else here.
    validateSchema: false,
    verbose: true,
    messages: false,
    // A field may be named `toString`.
    ownProperties: true,
    logger: false,
  } as const;
  const ajv = isDraft07(schema) ? new Ajv(settings) : new Ajv2020(settings);
  formats.default(ajv);
  ajv.addVocabulary(ANNOTATIONS);
  ajv.addKeyword({
    keyword: FILE_KEYWORD,
    schemaType: "boolean",
    validate: (_: unknown, value: unknown) => isFileReference(value),
  });
  // ajv compares every pair, so one long array could block the process for minutes.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items),
  });
  // ajv divides binary fractions, for which 0.07 isn't a multiple of 0.01.
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    validate: (of: number, value: number) => isMultipleOf(value, of),
    error: { message: "", params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
  });
  return ajv;
}

function areUnique(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) seen.add(typeof item === "object" ? canonicalJson(item) : JSON.stringify(item));
  return seen.size === items.length;
}

/**
 * The author's schema for the validator: without our annotations, with files by reference and local references. Also
 * without ajv's `$async`, whose rejected promises nobody would handle.
 */
export function toValidationSchema(root: SchemaNode): SchemaNode {
  const { $id: _id, $schema: _schema, ...rest } = convert(root, root);
  return rest;
}

function convert(node: SchemaNode, root: SchemaNode): SchemaNode {
  if (isObject(node["x-file"])) return fileSchema(node["x-file"] as FileRule, node.minItems);
  const made: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword.startsWith("x-") || keyword === "$async") continue;
    if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
      made[keyword] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convertAny(inner, root)]));
    } else if (LIST_OF_SCHEMAS.has(keyword) && Array.isArray(value)) {
      made[keyword] = value.map((inner) => convertAny(inner, root));
    } else if (ONE_SCHEMA.has(keyword)) made[keyword] = convertAny(value, root);
    else if ((keyword === "$ref" || keyword === "$dynamicRef") && typeof value === "string")
      made[keyword] = localised(root, value);
    else made[keyword] = value;
  }
  return made;
}

const convertAny = (value: unknown, root: SchemaNode): unknown => (isObject(value) ? convert(value, root) : value);

function localised(root: SchemaNode, ref: string): string {
  if (ref.startsWith("#") || localRef(root, ref) === undefined) return ref;
  const hash = ref.indexOf("#");
  return hash === -1 ? "#" : ref.slice(hash);
}
