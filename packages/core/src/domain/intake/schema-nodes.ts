/** A JSON Schema other than true or false. */
export type SchemaNode = { readonly [keyword: string]: unknown };

export const isObject = (value: unknown): value is SchemaNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isIndex = (segment: string): boolean => /^(?:0|[1-9]\d{0,14})$/.test(segment);

const ONE = [
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;
const LIST = ["allOf", "anyOf", "items", "oneOf", "prefixItems"] as const;
const NAMED = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"] as const;

export const ONE_SCHEMA: ReadonlySet<string> = new Set(ONE);
export const LIST_OF_SCHEMAS: ReadonlySet<string> = new Set(LIST);
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set(NAMED);

export interface Located {
  node: SchemaNode;
  /** Path segments from the root schema. */
  at: readonly string[];
}

/** The schemas directly inside a schema. Values (of enum, const, default) aren't schemas and are skipped. */
export function* subschemas({ node, at }: Located): Generator<Located> {
  for (const [keyword, value] of Object.entries(node)) {
    if (ONE_SCHEMA.has(keyword) && isObject(value)) yield { node: value, at: [...at, keyword] };
    else if (LIST_OF_SCHEMAS.has(keyword) && Array.isArray(value)) {
      for (const [index, member] of value.entries()) {
        if (isObject(member)) yield { node: member, at: [...at, keyword, String(index)] };
      }
    } else if (NAMED_SCHEMAS.has(keyword) && isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (isObject(member)) yield { node: member, at: [...at, keyword, name] };
      }
    }
  }
}

export function* allSchemas(root: SchemaNode): Generator<Located> {
  const open: Located[] = [{ node: root, at: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...subschemas(next));
  }
}

/** Resolves a JSON pointer or an anchor to a part of the document. */
export type Resolve = (ref: string) => unknown;

export function resolverOf(root: SchemaNode): Resolve {
  const anchors = new Map<string, SchemaNode>();
  for (const { node } of allSchemas(root)) {
    for (const keyword of ["$anchor", "$dynamicAnchor"] as const) {
      const name = node[keyword];
      if (typeof name === "string" && !anchors.has(name)) anchors.set(name, node);
    }
  }
  return (ref) => {
    const local = localRef(root, ref);
    if (local === undefined) return undefined;
    if (local === "") return root;
    return local.startsWith("/") ? byPointer(root, local) : anchors.get(local);
  };
}

/** What follows the `#` of a reference into this document; undefined for any other reference. */
export function localRef(root: SchemaNode, ref: string): string | undefined {
  const id = typeof root.$id === "string" ? root.$id.replace(/#$/, "") : "";
  const text = id !== "" && ref.startsWith(id) ? ref.slice(id.length) || "#" : ref;
  if (!text.startsWith("#")) return undefined;
  try {
    return decodeURIComponent(text.slice(1));
  } catch {
    return undefined;
  }
}

export const pointerSegments = (pointer: string): string[] =>
  pointer === ""
    ? []
    : pointer
        .slice(1)
        .split("/")
        .map((segment) => (segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment));

export const toPointer = (segments: readonly string[]): string =>
  segments.map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

function byPointer(root: unknown, pointer: string): unknown {
  let here = root;
  for (const segment of pointerSegments(pointer)) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, segment)) return undefined;
    here = (here as Record<string, unknown>)[segment];
  }
  return here;
}

export const typesOf = (node: SchemaNode): readonly string[] | undefined => {
  const type = node.type;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : undefined;
};

export function schemaList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
