import type { ErrorObject, ValidateFunction } from "ajv";
import { createAjv, type JsonSchemaValidator, toValidationSchema } from "./ajv.ts";
import {
  allSchemas,
  isObject,
  type Resolve,
  resolverOf,
  type SchemaNode,
  subschemas,
  toPointer,
} from "./schema-nodes.ts";

/** ajv for one schema, with what is needed to interpret its errors. */
export interface SchemaValidator {
  errorsOf(value: unknown): readonly ErrorObject[];
  /** The errors of one `anyOf` or `oneOf` branch on its own. */
  errorsOfBranch(branch: Branch, value: unknown): readonly ErrorObject[];
  /** Whether a keyword of `outer` leads to the schema `inner`. */
  leadsTo(outer: SchemaNode, keyword: string, inner: unknown): boolean;
  resolve: Resolve;
}

export interface Branch {
  node: SchemaNode;
  keyword: "anyOf" | "oneOf";
  index: number;
}

const ROOT = "intake";
/** With more values than this, stop at the first problem: a body of empty objects could produce millions. */
const MAX_VALUES_FOR_ALL = 20_000;

export function createSchemaValidator(authored: SchemaNode): SchemaValidator {
  const schema = toValidationSchema(authored);
  const ajv = createAjv(authored, { allErrors: true });
  ajv.addSchema(schema, ROOT);
  const all = compiled(ajv, ROOT);
  const resolve = resolverOf(schema);
  let first: ValidateFunction | undefined;
  let pointers: Map<unknown, string> | undefined;
  const branches = new Map<string, ValidateFunction>();

  function branchValidator({ node, keyword, index }: Branch): ValidateFunction | undefined {
    pointers ??= new Map([...allSchemas(schema)].map((found) => [found.node, toPointer(found.at)]));
    const at = pointers.get(node);
    if (at === undefined) return undefined;
    const ref = `${ROOT}#${encodeURI(`${at}/${keyword}/${index}`)}`;
    const known = branches.get(ref) ?? ajv.compile({ $ref: ref });
    branches.set(ref, known);
    return known;
  }

  return {
    errorsOf(value) {
      if (isLarge(value)) {
        first ??= createAjv(authored, { allErrors: false }).compile(schema);
        return run(first, value);
      }
      return run(all, value);
    },
    errorsOfBranch(branch, value) {
      const validate = branchValidator(branch);
      return validate === undefined ? [] : run(validate, value);
    },
    leadsTo: reachability(resolve),
    resolve,
  };
}

function compiled(ajv: JsonSchemaValidator, key: string): ValidateFunction {
  const validate = ajv.getSchema(key);
  if (validate === undefined) throw new Error(`the schema ${key} was not added`);
  return validate;
}

function run(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  return validate(value) ? [] : (validate.errors ?? []);
}

function isLarge(value: unknown): boolean {
  let left = MAX_VALUES_FOR_ALL;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const members = Object.values(next);
    left -= members.length;
    if (left < 0) return true;
    for (const member of members) if (typeof member === "object") open.push(member);
  }
  return false;
}

function reachability(resolve: Resolve): SchemaValidator["leadsTo"] {
  const known = new WeakMap<object, Map<string, Set<unknown>>>();
  return (outer, keyword, inner) => {
    const byKeyword = known.get(outer) ?? new Map<string, Set<unknown>>();
    known.set(outer, byKeyword);
    const reached = byKeyword.get(keyword) ?? reach({ [keyword]: outer[keyword] }, resolve);
    byKeyword.set(keyword, reached);
    return reached.has(inner);
  };
}

function reach(from: SchemaNode, resolve: Resolve): Set<unknown> {
  const reached = new Set<unknown>();
  const open: SchemaNode[] = [...subschemas({ node: from, at: [] })].map(({ node }) => node);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    for (const { node } of subschemas({ node: next, at: [] })) open.push(node);
    for (const ref of [next.$ref, next.$dynamicRef]) {
      const target = typeof ref === "string" ? resolve(ref) : undefined;
      if (isObject(target)) open.push(target);
    }
  }
  return reached;
}
