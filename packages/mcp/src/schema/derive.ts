import { isObject, resolverOf, type SchemaNode } from "@formbridge/core";

/** A plain JSON Schema without references, conditions or our own marks, which every host can read. */
export type Plain = { [keyword: string]: unknown };

export interface DeriveOptions {
  /** Leaves out fields that only a human may set. */
  forAgents: boolean;
}

interface Walk extends DeriveOptions {
  resolve(ref: string): unknown;
  /** The nodes being derived, because a schema may contain itself. */
  open: readonly SchemaNode[];
  left: { nodes: number };
  /** A list is replaced as a whole, so its items must be complete; an object is merged, and may be partial. */
  whole: boolean;
}

const MAX_NODES = 2_000;
const MAX_DEPTH = 24;

/** Keywords that mean the same wherever they appear. */
const KEPT = [
  "type",
  "title",
  "description",
  "enum",
  "const",
  "default",
  "examples",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
] as const;

/**
 * An intake's schema as guidance for whoever fills it in: everything that is valid is valid here too. References are
 * resolved and the branches of conditions merged. What can't be expressed is left out; the server checks it anyway.
 */
export function deriveFields(root: SchemaNode, options: DeriveOptions): Plain {
  const walk = { ...options, resolve: resolverOf(root), open: [], left: { nodes: MAX_NODES }, whole: false };
  const target = targetOf(root, walk);
  const { properties, ...rest } = objectOf(isObject(target) ? { allOf: [target], ...root } : root, walk);
  return { ...rest, type: "object", ...(properties !== undefined && { properties }) };
}

function derive(schema: unknown, walk: Walk): Plain {
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  walk.left.nodes -= 1;
  const isTooMuch = walk.left.nodes < 0 || walk.open.length >= MAX_DEPTH || walk.open.includes(schema);
  if (isTooMuch) return wordsOf(schema);
  const inner = { ...walk, open: [...walk.open, schema] };
  if (isObject(schema["x-file"])) return fileOf(schema, schema["x-file"]);
  const target = targetOf(schema, walk);
  if (target !== undefined) return refined(derive(target, inner), schema);
  return isObjectLike(schema) ? objectOf(schema, inner) : plainOf(schema, inner);
}

const targetOf = (schema: SchemaNode, { resolve }: Walk): unknown => {
  const ref = schema.$ref ?? schema.$dynamicRef;
  return typeof ref === "string" ? resolve(ref) : undefined;
};

/** Annotations beside a reference describe it. */
const refined = (target: Plain, schema: SchemaNode): Plain => ({ ...target, ...wordsOf(schema), ...marksOf(schema) });

const wordsOf = (schema: SchemaNode): Plain => ({
  ...(typeof schema.title === "string" && { title: schema.title }),
  ...(typeof schema.description === "string" && { description: schema.description }),
});

/** Kept while deriving, for code that describes fields; `withoutMarks` removes them. */
const marksOf = (schema: SchemaNode): Plain => ({
  ...(schema["x-sensitive"] === true && { "x-sensitive": true }),
  ...(schema["x-fill"] !== undefined && { "x-fill": schema["x-fill"] }),
});

const BRANCHES = ["allOf", "anyOf", "oneOf"] as const;

const branchesOf = (schema: SchemaNode): unknown[] => [
  ...BRANCHES.flatMap((keyword) => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [])),
  ...[schema.then, schema.else].filter((branch) => branch !== undefined),
  ...["dependentSchemas", "dependencies"].flatMap((keyword) =>
    isObject(schema[keyword]) ? Object.values(schema[keyword]).filter(isObject) : [],
  ),
];

const isObjectLike = ({ type, properties }: SchemaNode): boolean =>
  Array.isArray(type) ? type.includes("object") : type === "object" || (type === undefined && isObject(properties));

/** An object's own properties and those of all its branches. */
function objectOf(schema: SchemaNode, walk: Walk): Plain {
  const properties = new Map<string, Plain[]>();
  const own = isObject(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(own)) {
    if (property === false || isLeftOut(property, walk)) continue;
    properties.set(name, [derive(property, walk)]);
  }
  for (const [name, versions] of inBranches(schema, walk)) {
    // What the object itself says applies in every branch.
    if (!Object.hasOwn(own, name) || saysNothing(properties.get(name)?.[0])) properties.set(name, versions);
  }
  // At the root a key may be a dot-path, so the list of properties is only complete elsewhere.
  const isAll = branchesOf(schema).length === 0 && schema.patternProperties === undefined && walk.open.length > 0;
  const closed = schema.additionalProperties === false && isAll;
  const required = walk.whole ? requiredIn(schema, properties) : [];
  const { always, sometimes } = requiredBy(schema);
  return {
    type: Array.isArray(schema.type) ? schema.type : "object",
    ...wordsOf(schema),
    ...marksOf(schema),
    ...(always.length > 0 && { "x-required": always }),
    ...(sometimes.length > 0 && { "x-required-if": sometimes }),
    ...(schema.examples !== undefined && { examples: schema.examples }),
    ...(properties.size > 0 && { properties: Object.fromEntries([...properties].map(([n, v]) => [n, anyOf(v)])) }),
    ...(required.length > 0 && { required }),
    ...(closed && { additionalProperties: false }),
    ...(isObject(schema.additionalProperties) && { additionalProperties: derive(schema.additionalProperties, walk) }),
  };
}

const saysNothing = (schema: Plain | undefined): boolean => schema === undefined || Object.keys(schema).length === 0;

const requiredIn = (schema: SchemaNode, properties: Map<string, Plain[]>): string[] =>
  Array.isArray(schema.required) ? schema.required.filter((name) => properties.has(name)) : [];

/** What an object always requires, and what it requires for some values only. */
function requiredBy(schema: SchemaNode): { always: string[]; sometimes: string[] } {
  const parts = [schema, ...(Array.isArray(schema.allOf) ? schema.allOf.filter(isObject) : [])];
  const always = new Set(parts.flatMap(namesRequired));
  const sometimes = new Set(parts.flatMap((part) => conditionsOf(part).flatMap(requiredAnywhere)));
  return { always: [...always], sometimes: [...sometimes].filter((name) => !always.has(name)) };
}

const namesRequired = ({ required }: SchemaNode): string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];

/** The parts of a schema that apply conditionally; `dependentRequired` is turned into one. */
const conditionsOf = (schema: SchemaNode): SchemaNode[] => [
  ...[...branchesOf({ ...schema, allOf: undefined })].filter(isObject),
  ...["dependentRequired", "dependencies"].flatMap((keyword) =>
    Object.values(isObject(schema[keyword]) ? schema[keyword] : {})
      .filter(Array.isArray)
      .map((required) => ({ required })),
  ),
];

const requiredAnywhere = (schema: SchemaNode): string[] => [
  ...namesRequired(schema),
  ...(Array.isArray(schema.allOf) ? schema.allOf.filter(isObject).flatMap(requiredAnywhere) : []),
  ...conditionsOf(schema).flatMap(requiredAnywhere),
];

const isLeftOut = (property: unknown, walk: Walk): boolean => {
  if (!walk.forAgents || !isObject(property)) return false;
  if (property["x-fill"] !== undefined) return property["x-fill"] === "human";
  const target = targetOf(property, walk);
  return isObject(target) && target["x-fill"] === "human";
};

/** Each property with its variants from the branches. */
function inBranches(schema: SchemaNode, walk: Walk): Map<string, Plain[]> {
  const found = new Map<string, Plain[]>();
  for (const branch of branchesOf(schema)) {
    const { properties } = derive(isObject(branch) ? { type: "object", ...branch } : branch, walk);
    for (const [name, version] of Object.entries((properties ?? {}) as Record<string, Plain>)) {
      found.set(name, [...(found.get(name) ?? []), version]);
    }
  }
  return found;
}

/** Any of several variants; constants become an enumeration. */
function anyOf(versions: readonly Plain[]): Plain {
  const distinct = [...new Map(versions.map((version) => [JSON.stringify(version), version])).values()];
  const [only, ...others] = distinct;
  if (only !== undefined && others.length === 0) return only;
  if (distinct.some(saysNothing)) return {};
  if (distinct.every((version) => Object.keys(version).every((keyword) => keyword === "const"))) {
    return { enum: distinct.map((version) => version.const) };
  }
  return { anyOf: distinct };
}

/** A value that isn't an object, or may be something else too. */
function plainOf(schema: SchemaNode, walk: Walk): Plain {
  const plain: Plain = { ...marksOf(schema) };
  for (const keyword of KEPT) if (schema[keyword] !== undefined) plain[keyword] = schema[keyword];
  if (schema.nullable === true && typeof schema.type === "string") plain.type = [schema.type, "null"];
  const whole = { ...walk, whole: true };
  if (Array.isArray(schema.prefixItems)) plain.prefixItems = schema.prefixItems.map((item) => derive(item, whole));
  if (isObject(schema.items)) plain.items = derive(schema.items, whole);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const list = schema[keyword];
    // Two branches may become equal once parts are left out; keep one.
    if (Array.isArray(list)) plain.anyOf = list.map((member) => derive(member, walk));
  }
  if (Array.isArray(schema.allOf)) plain.allOf = schema.allOf.map((member) => derive(member, walk));
  return plain;
}

const megabytes = (bytes: number): string =>
  bytes >= 1_048_576 ? `${Math.round((bytes / 1_048_576) * 10) / 10} MB` : `${bytes} bytes`;

/** A file field holds a reference created by the server. */
function fileOf(schema: SchemaNode, rule: SchemaNode): Plain {
  const { accept, maxBytes, maxFiles } = rule;
  const types = Array.isArray(accept) ? accept.join(", ") : "any type";
  const most = typeof maxBytes === "number" ? `, at most ${megabytes(maxBytes)}` : "";
  const several = typeof maxFiles === "number" && maxFiles > 1;
  const ruleInWords = `${several ? `up to ${maxFiles} files: ` : ""}${types}${most}`;
  const how = `File (${ruleInWords}). Not a value to write: confirming an upload fills it.`;
  const reference = { type: "object", properties: { uploadId: { type: "string" } }, required: ["uploadId"] };
  const description = typeof schema.description === "string" ? `${schema.description} ${how}` : how;
  return {
    ...(several ? { type: "array", items: reference } : reference),
    ...(typeof schema.title === "string" && { title: schema.title }),
    description,
    ...marksOf(schema),
    "x-file": rule,
    "x-file-rule": ruleInWords,
  };
}

/** For the wire: turns the marks into descriptions. */
export function withoutMarks(schema: unknown, at = 0): unknown {
  if (Array.isArray(schema)) return schema.map((member) => withoutMarks(member, at + 1));
  if (!isObject(schema)) return schema;
  const {
    "x-sensitive": sensitive,
    "x-fill": fill,
    "x-required": always,
    "x-file": _file,
    "x-file-rule": _rule,
    "x-required-if": _sometimes,
    ...rest
  } = schema as Plain;
  const plain: Plain = {};
  for (const [keyword, value] of Object.entries(rest)) {
    plain[keyword] = VALUES.has(keyword)
      ? value
      : keyword === "properties"
        ? named(value, at + 1)
        : withoutMarks(value, at + 1);
  }
  const needs = Array.isArray(always) && rest.required === undefined && at > 0;
  const notes = [
    needs && `Needs ${always.join(", ")}.`,
    sensitive === true && "Sensitive: shown masked.",
    fill === "human" && "Only a human may set this.",
  ];
  const added = notes.filter((note) => note !== false);
  if (added.length > 0) plain.description = [rest.description, ...added].filter(Boolean).join(" ");
  return plain;
}

/** Keywords that hold values, which are copied unchanged. */
const VALUES = new Set(["enum", "const", "default", "examples"]);

/** A property may have the same name as a mark. */
const named = (properties: unknown, at: number): unknown =>
  isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, withoutMarks(schema, at)]))
    : properties;
