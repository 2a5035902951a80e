import { type FieldPath, isObject } from "../engine/changes.ts";

type Node = Record<string, unknown>;

const PARTS = ["allOf", "anyOf", "oneOf"] as const;
const BRANCHES = ["if", "then", "else", "not"] as const;

/**
 * Tells whether a value at a path may be or hold something sensitive. What the schema does not describe counts as
 * sensitive: a value that is kept from storage is lost with the tab at worst, one that is written there is disclosed.
 */
export function sensitivityOf(schema: unknown): (path: FieldPath) => boolean {
  return (path) => {
    let here = allOf(schema, schema);
    for (const name of path) {
      if (here.length === 0 || here.some(isMarked)) return true;
      here = here.flatMap((node) => membersNamed(node, name)).flatMap((member) => allOf(member, schema));
    }
    return here.length === 0 || here.some((node) => holdsMarked(node, schema, new Set()));
  };
}

const isMarked = (node: Node): boolean => node["x-sensitive"] === true;

/** A schema with everything that applies to the same value. A reference that leads nowhere is sensitive. */
function allOf(node: unknown, root: unknown, seen = new Set<unknown>()): Node[] {
  if (!isObject(node) || seen.has(node)) return [];
  seen.add(node);
  const target = typeof node.$ref === "string" ? (pointedTo(root, node.$ref) ?? { "x-sensitive": true }) : undefined;
  const dependent = isObject(node.dependentSchemas) ? Object.values(node.dependentSchemas) : [];
  const parts = [
    ...PARTS.flatMap((name) => (Array.isArray(node[name]) ? node[name] : [])),
    ...BRANCHES.map((name) => node[name]),
    ...dependent,
    target,
  ];
  return [node, ...parts.flatMap((part) => allOf(part, root, seen))];
}

function membersNamed({ properties, patternProperties, additionalProperties }: Node, name: string): unknown[] {
  if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
  const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
  return [...patterns, additionalProperties];
}

function holdsMarked(node: unknown, root: unknown, seen: Set<unknown>): boolean {
  if (Array.isArray(node)) return node.some((part) => holdsMarked(part, root, seen));
  if (!isObject(node) || seen.has(node)) return false;
  seen.add(node);
  if (isMarked(node)) return true;
  if (typeof node.$ref === "string") {
    const target = pointedTo(root, node.$ref);
    if (target === undefined || holdsMarked(target, root, seen)) return true;
  }
  return Object.values(node).some((part) => holdsMarked(part, root, seen));
}

function pointedTo(root: unknown, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let here = root;
  for (const part of ref.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Node)[name];
  }
  return here;
}
