import type { ErrorObject } from "ajv";
import { RESERVED_NAMES } from "../fields/json-values.ts";
import { createAjv, isDraft07, type JsonSchemaValidator, toValidationSchema } from "./ajv.ts";
import type { Problems, ShapeCheck } from "./definition-problems.ts";
import { FILE_KEYWORD } from "./file-reference.ts";
import { patternProblem } from "./pattern-safety.ts";
import {
  allSchemas,
  isObject,
  type Located,
  localRef,
  pointerSegments,
  type Resolve,
  resolverOf,
  type SchemaNode,
  schemaList,
} from "./schema-nodes.ts";
import { createSchemaValidator } from "./schema-validator.ts";

const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
/** Keywords of older drafts that ajv only knows by name, and its own ones that aren't part of JSON Schema. */
const NOT_OURS: ReadonlySet<string> = new Set(["id", "$recursiveRef", "$recursiveAnchor", "$async", FILE_KEYWORD]);
/** The time for all patterns of one schema together; more would block the process too long. */
const PATTERN_BUDGET_MS = 10_000;

interface Options {
  maxFields: number;
  fileShape: ShapeCheck;
}

interface Scope {
  root: SchemaNode;
  ajv: JsonSchemaValidator;
  resolve: Resolve;
  fileShape: ShapeCheck;
  /** When the time for patterns runs out. */
  patternsUntil: number;
}

/** Checks the schema of a definition; see check-definition for the reasons. */
export function checkSchema(root: SchemaNode, { maxFields, fileShape }: Options, problems: Problems): void {
  const before = problems.list.length;
  const dialect = root.$schema;
  if (dialect !== undefined && !isDraft07(root) && !(typeof dialect === "string" && DRAFT_2020.test(dialect))) {
    problems.add(["schema", "$schema"], "must be JSON Schema 2020-12 or draft-07");
    return;
  }
  const scope: Scope = {
    root,
    ajv: createAjv(root, { allErrors: true }),
    resolve: resolverOf(root),
    fileShape,
    patternsUntil: performance.now() + PATTERN_BUDGET_MS,
  };
  const found = [...allSchemas(root)].reverse();
  const fields = found.reduce(
    (sum, { node }) => sum + (isObject(node.properties) ? Object.keys(node.properties).length : 0),
    0,
  );
  if (fields > maxFields) {
    problems.add(["schema"], `has ${fields} fields; at most ${maxFields} are allowed`);
    return;
  }
  if (!isObjectSchema(root, scope.resolve)) problems.add(["schema", "type"], 'must be "object"');
  for (const located of found) checkNode(located, scope, problems);
  checkCircles(found, scope.resolve, problems);
  checkAgainstMeta(root, problems);
  if (problems.list.length === before) checkCompiles(root, problems);
}

function isObjectSchema(root: SchemaNode, resolve: Resolve): boolean {
  let here: unknown = root;
  for (let hops = 0; hops < 16 && isObject(here); hops++) {
    if (here.type !== undefined) return here.type === "object";
    if (isObject(here.properties)) return true;
    here = typeof here.$ref === "string" ? resolve(here.$ref) : undefined;
  }
  return false;
}

function checkNode({ node, at: inner }: Located, scope: Scope, problems: Problems): void {
  const at = ["schema", ...inner];
  for (const [keyword, value] of Object.entries(node)) {
    const here = [...at, keyword];
    if (!keyword.startsWith("x-") && (NOT_OURS.has(keyword) || !isKnown(scope.ajv, keyword))) {
      problems.add(here, `is not a keyword of ${isDraft07(scope.root) ? "draft-07" : "JSON Schema 2020-12"}`);
    }
    if ((keyword === "$id" || keyword === "$schema") && inner.length > 0) {
      problems.add(here, "is allowed at the root only");
    }
    checkRequiredNames(keyword, value, here, problems);
    if (keyword === "$ref" || keyword === "$dynamicRef") checkRef(value, here, scope, problems);
    if (keyword === "pattern" && typeof value === "string") checkPattern(value, here, scope, problems);
    if (keyword === "patternProperties" && isObject(value)) {
      for (const source of Object.keys(value)) checkPattern(source, [...here, source], scope, problems);
    }
    if (keyword === "format" && typeof value === "string" && !Object.hasOwn(scope.ajv.formats, value)) {
      problems.add(here, `isn't a known format: ${value}`);
    }
  }
  checkMarks(node, at, scope, problems);
}

/** Fields can't have these names, so a submission that needs one could never be complete. */
function checkRequiredNames(keyword: string, value: unknown, at: readonly string[], problems: Problems): void {
  const lists: [unknown, readonly string[]][] =
    keyword === "required"
      ? [[value, at]]
      : (keyword === "dependentRequired" || keyword === "dependencies") && isObject(value)
        ? Object.entries(value).map(([name, list]) => [list, [...at, name]])
        : [];
  for (const [list, place] of lists) {
    if (!Array.isArray(list)) continue;
    for (const [index, name] of list.entries()) {
      if (RESERVED_NAMES.has(name)) problems.add([...place, String(index)], `is a reserved name: ${name}`);
    }
  }
}

const isKnown = (ajv: JsonSchemaValidator, keyword: string): boolean => Object.hasOwn(ajv.RULES.keywords, keyword);

function checkRef(ref: unknown, at: readonly string[], { root, resolve }: Scope, problems: Problems): void {
  if (typeof ref !== "string") problems.add(at, "must be text");
  else if (localRef(root, ref) === undefined) problems.add(at, `points outside the document: ${ref}`);
  else {
    const target = resolve(ref);
    if (!isObject(target) && typeof target !== "boolean") problems.add(at, `points to nothing: ${ref}`);
  }
}

function checkPattern(source: string, at: readonly string[], { patternsUntil }: Scope, problems: Problems): void {
  const problem =
    performance.now() > patternsUntil
      ? "wasn't analysed, because the patterns before it took too long"
      : patternProblem(source);
  if (problem !== undefined) problems.add(at, problem);
}

function checkMarks(node: SchemaNode, at: readonly string[], { fileShape }: Scope, problems: Problems): void {
  const { "x-file": file, "x-fill": fill, "x-sensitive": sensitive } = node;
  if (file !== undefined) {
    if (!isObject(file)) problems.add([...at, "x-file"], "must be an object with accept and maxBytes", "invalid_type");
    else if (at.length === 1) problems.add([...at, "x-file"], "must be on a property");
    else {
      fileShape(file, [...at, "x-file"], problems);
      checkAccept(file.accept, [...at, "x-file", "accept"], problems);
    }
  }
  if (fill !== undefined && fill !== "human" && fill !== "agent")
    problems.add([...at, "x-fill"], 'must be "human" or "agent"');
  if (sensitive !== undefined && typeof sensitive !== "boolean") {
    problems.add([...at, "x-sensitive"], "must be true or false", "invalid_type");
  }
}

const MIME_PATTERN = /^(?:\*\/\*|[a-z0-9][\w!#$&^.+-]*\/(?:\*|[a-z0-9][\w!#$&^.+-]*)(?: *;[ -~]*)?)$/i;

/** A file extension would match no file at all. */
function checkAccept(accept: unknown, at: readonly string[], problems: Problems): void {
  if (!Array.isArray(accept)) return;
  for (const [index, type] of accept.entries()) {
    if (typeof type === "string" && !MIME_PATTERN.test(type)) {
      problems.add([...at, String(index)], `must be a MIME type such as application/pdf, image/* or */*, not ${type}`);
    }
  }
}

/** A schema that refers to itself without descending into the value would never finish validating. */
function checkCircles(found: readonly Located[], resolve: Resolve, problems: Problems): void {
  const done = new Set<SchemaNode>();
  const onTheWay = new Set<SchemaNode>();
  const circles = (node: SchemaNode): boolean => {
    if (onTheWay.has(node)) return true;
    if (done.has(node)) return false;
    onTheWay.add(node);
    const circular = inPlace(node, resolve).some(circles);
    onTheWay.delete(node);
    done.add(node);
    return circular;
  };
  for (const { node, at } of found) {
    if (circles(node)) problems.add(["schema", ...at], "refers to itself in a cycle");
  }
}

function inPlace(node: SchemaNode, resolve: Resolve): SchemaNode[] {
  const named = [node.dependentSchemas, node.dependencies].flatMap((map) => (isObject(map) ? Object.values(map) : []));
  const refs = [node.$ref, node.$dynamicRef].map((ref) => (typeof ref === "string" ? resolve(ref) : undefined));
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => schemaList(node[keyword]));
  return [...refs, ...lists, ...named, node.not, node.if, node.then, node.else].filter(isObject);
}

const metaAjv = new Map<boolean, JsonSchemaValidator>();

function checkAgainstMeta(root: SchemaNode, problems: Problems): void {
  const draft07 = isDraft07(root);
  const ajv = metaAjv.get(draft07) ?? createAjv(root, { allErrors: true });
  metaAjv.set(draft07, ajv);
  const id = draft07 ? "http://json-schema.org/draft-07/schema" : "https://json-schema.org/draft/2020-12/schema";
  const { $schema: _, ...schema } = toValidationSchema(root);
  if (ajv.validate(id, schema)) return;
  const named = new Set<string>();
  for (const error of ajv.errors ?? []) {
    // These come from the meta-schema's structure; the leaves say what is wrong.
    if (["allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if"].includes(error.keyword)) continue;
    const at = ["schema", ...pointerSegments(error.instancePath)];
    if (named.has(at.join("."))) continue;
    named.add(at.join("."));
    problems.add(at, `is not valid JSON Schema: ${metaMessage(error)}`);
  }
}

function metaMessage({ keyword, params, schema }: ErrorObject): string {
  if (keyword === "enum" || keyword === "const")
    return `must be one of ${JSON.stringify(params.allowedValues ?? schema)}`;
  if (keyword === "type") return `must be ${[params.type].flat().join(" or ")}`;
  return `${keyword} ${JSON.stringify(schema)}`;
}

function checkCompiles(root: SchemaNode, problems: Problems): void {
  try {
    createSchemaValidator(root);
  } catch (cause) {
    problems.add(["schema"], `does not compile: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
