import type { ErrorObject } from "ajv";
import { isObject, type Resolve, type SchemaNode, schemaList, typesOf } from "./schema-nodes.ts";
import { jsonType } from "./schema-reading.ts";
import type { Branch } from "./schema-validator.ts";

/**
 * The branch of a failed `anyOf` or `oneOf` that the value is clearly meant for: the only one whose constant members it
 * has, or else the only one of its type. Undefined if several are possible.
 */
export function meantBranch(error: ErrorObject, resolve: Resolve): Branch | undefined {
  const { keyword, parentSchema: node, data } = error;
  if ((keyword !== "anyOf" && keyword !== "oneOf") || !isObject(node) || passesSeveral(error)) return undefined;
  const branches = schemaList(node[keyword]).map((schema, index) => ({ index, schema: followed(schema, resolve) }));
  const marked = branches.filter(({ schema }) => isObject(data) && hasFixedMembers(schema, data, resolve));
  const fitting = marked.length > 0 ? marked : branches.filter(({ schema }) => isOfType(schema, data));
  const [only] = fitting;
  if (only === undefined || fitting.length > 1 || branches.length === 1 || !isObject(only.schema)) return undefined;
  return { node, keyword, index: only.index };
}

export const passesSeveral = (error: ErrorObject): boolean =>
  error.keyword === "oneOf" && Array.isArray(error.params.passingSchemas);

function followed(schema: unknown, resolve: Resolve): unknown {
  let here = schema;
  for (let hops = 0; hops < 16 && isObject(here) && typeof here.$ref === "string"; hops++) here = resolve(here.$ref);
  return here;
}

function hasFixedMembers(schema: unknown, data: SchemaNode, resolve: Resolve): boolean {
  if (!isObject(schema) || !isObject(schema.properties)) return false;
  let fixed = 0;
  for (const [name, declared] of Object.entries(schema.properties)) {
    const member = followed(declared, resolve);
    if (!isObject(member)) continue;
    const values = Object.hasOwn(member, "const") ? [member.const] : schemaList(member.enum);
    if (values.length !== 1) continue;
    if (!Object.hasOwn(data, name) || data[name] !== values[0]) return false;
    fixed++;
  }
  return fixed > 0;
}

function isOfType(schema: unknown, data: unknown): boolean {
  if (schema === false) return false;
  const types = isObject(schema) ? typesOf(schema) : undefined;
  if (types === undefined) return true;
  return types.includes(jsonType(data)) || (typeof data === "number" && types.includes("integer"));
}
