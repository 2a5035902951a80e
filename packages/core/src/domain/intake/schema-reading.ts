import { isIndex, isObject, type Resolve, type SchemaNode, schemaList, typesOf } from "./schema-nodes.ts";

/** A schema that applies to a path. A condition (`if`) mentions paths but asserts nothing about them. */
export interface Reading {
  schema: unknown;
  asserts: boolean;
}

export interface Facts {
  object: boolean;
  array: boolean;
  allowsNull: boolean;
  /** The names declared in `properties` here, in any branch. */
  names: ReadonlySet<string>;
  patterns: readonly NamePattern[];
}

interface NamePattern {
  test(name: string): boolean;
  toString(): string;
}

export const saysNothing: Facts = { object: true, array: true, allowsNull: false, names: new Set(), patterns: [] };

const patternCache = new WeakMap<object, ReadonlyMap<string, RegExp>>();

/** The schemas with everything that applies to the same value: references, branches, conditions. */
export function branchesOf(roots: readonly Reading[], resolve: Resolve): Reading[] {
  const seen = new Map<unknown, Reading>();
  const open = [...roots];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema, asserts } = next;
    const known = seen.get(schema);
    if (known !== undefined && (known.asserts || !asserts)) continue;
    seen.set(schema, next);
    if (!isObject(schema)) continue;
    for (const inner of inPlace(schema, resolve)) open.push({ schema: inner, asserts });
    if (isObject(schema.if)) open.push({ schema: schema.if, asserts: false });
  }
  return [...seen.values()];
}

function inPlace(schema: SchemaNode, resolve: Resolve): unknown[] {
  const found = [...referenced(schema, resolve)];
  for (const keyword of ["allOf", "anyOf", "oneOf"]) found.push(...schemaList(schema[keyword]));
  for (const keyword of ["then", "else"]) if (schema[keyword] !== undefined) found.push(schema[keyword]);
  for (const keyword of ["dependentSchemas", "dependencies"]) {
    const named = schema[keyword];
    if (isObject(named)) found.push(...Object.values(named).filter(isObject));
  }
  return found;
}

function referenced(schema: SchemaNode, resolve: Resolve): unknown[] {
  return [schema.$ref, schema.$dynamicRef]
    .filter((ref) => typeof ref === "string")
    .map((ref) => resolve(ref))
    .filter((target) => target !== undefined);
}

/** What the schemas say about a path. The roots are what was declared; the readings include their branches. */
export function readPlace(roots: readonly Reading[], readings: readonly Reading[], resolve: Resolve): Facts {
  const names = new Set<string>();
  const patterns: NamePattern[] = [];
  for (const { schema } of readings) {
    if (!isObject(schema)) continue;
    if (isObject(schema.properties)) for (const name of Object.keys(schema.properties)) names.add(name);
    patterns.push(...namePatterns(schema).values());
  }
  const asserting = roots.filter(({ asserts }) => asserts);
  const takes = (type: string) =>
    asserting.length === 0 || asserting.some(({ schema }) => !rejectsType({ schema, type, resolve }));
  return {
    object: takes("object"),
    array: takes("array"),
    allowsNull: asserting.some(
      ({ schema }) => namesNull(schema, resolve) && !rejectsType({ schema, type: "null", resolve }),
    ),
    names,
    patterns,
  };
}

/** The schemas for a member (a property or an array item), and whether its name is declared or refused. */
export function readMember(readings: readonly Reading[], segment: string) {
  const found: Reading[] = [];
  let declared = false;
  let refused = false;
  for (const { schema, asserts } of readings) {
    if (!isObject(schema)) continue;
    const members = membersOf(schema, segment);
    for (const member of members) {
      if (member === false) refused = true;
      else declared = true;
      found.push({ schema: member, asserts });
    }
    if (members.length === 0 && asserts) refused ||= isClosed(schema);
  }
  return { readings: found, declared, refused };
}

function membersOf(schema: SchemaNode, segment: string): unknown[] {
  const found: unknown[] = [];
  const properties = schema.properties;
  if (isObject(properties) && Object.hasOwn(properties, segment)) found.push(properties[segment]);
  const byPattern = schema.patternProperties;
  if (isObject(byPattern)) {
    for (const [source, pattern] of namePatterns(schema)) if (pattern.test(segment)) found.push(byPattern[source]);
  }
  // A property named in the same schema isn't subject to its schema for additional properties.
  if (found.length === 0) {
    for (const keyword of ["additionalProperties", "unevaluatedProperties"]) {
      if (isObject(schema[keyword])) found.push(schema[keyword]);
    }
  }
  if (isIndex(segment)) found.push(...itemsOf(schema));
  return found;
}

/** The schemas of all positions, because a view by path doesn't distinguish them. */
function itemsOf(schema: SchemaNode): unknown[] {
  const found = [...schemaList(schema.prefixItems), ...schemaList(schema.items)];
  for (const keyword of ["items", "additionalItems", "unevaluatedItems", "contains"]) {
    if (isObject(schema[keyword])) found.push(schema[keyword]);
  }
  return found;
}

function isClosed(schema: SchemaNode): boolean {
  return schema.additionalProperties === false || schema.unevaluatedProperties === false;
}

function namePatterns(schema: SchemaNode): ReadonlyMap<string, RegExp> {
  const known = patternCache.get(schema);
  if (known !== undefined) return known;
  const made = new Map<string, RegExp>();
  const sources = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  for (const source of sources) made.set(source, new RegExp(source, "u"));
  patternCache.set(schema, made);
  return made;
}

/** Results by schema; initially false, so that circular references end. */
type Answers = Map<unknown, boolean>;

function answered(schema: SchemaNode, answers: Answers, ask: () => boolean): boolean {
  const known = answers.get(schema);
  if (known !== undefined) return known;
  answers.set(schema, false);
  const answer = ask();
  answers.set(schema, answer);
  return answer;
}

interface Question {
  schema: unknown;
  type: string;
  resolve: Resolve;
  answers?: Answers;
}

/** Whether every value of this type is refused. */
function rejectsType({ schema, type, resolve, answers = new Map() }: Question): boolean {
  if (schema === false) return true;
  if (!isObject(schema)) return false;
  if (isObject(schema["x-file"])) return type !== (Number(schema["x-file"].maxFiles) > 1 ? "array" : "object");
  return answered(schema, answers, () => {
    const types = typesOf(schema);
    if (types !== undefined && !types.includes(type) && !(type === "null" && schema.nullable === true)) return true;
    const has = (values: readonly unknown[]) => values.some((value) => jsonType(value) === type);
    if (Array.isArray(schema.enum) && !has(schema.enum)) return true;
    if (Object.hasOwn(schema, "const") && !has([schema.const])) return true;
    const refuses = (inner: unknown) => rejectsType({ schema: inner, type, resolve, answers });
    if (referenced(schema, resolve).some(refuses) || schemaList(schema.allOf).some(refuses)) return true;
    return [schema.anyOf, schema.oneOf].some((list) => schemaList(list).length > 0 && schemaList(list).every(refuses));
  });
}

/** Whether the schema mentions null at all. A schema that accepts anything doesn't. */
function namesNull(schema: unknown, resolve: Resolve, answers: Answers = new Map()): boolean {
  if (!isObject(schema)) return false;
  return answered(schema, answers, () => {
    if (typesOf(schema)?.includes("null") || schema.nullable === true || schema.const === null) return true;
    if (schemaList(schema.enum).includes(null)) return true;
    const inner = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => schemaList(schema[keyword]));
    return [...referenced(schema, resolve), ...inner].some((member) => namesNull(member, resolve, answers));
  });
}

export function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}
