import type { FileRule } from "@formbridge/contract";
import type { FieldRule } from "./compiled-intake.ts";
import { readDeclaredPath } from "./field-path.ts";
import { allSchemas, isIndex, isObject, type Resolve, resolverOf, type SchemaNode } from "./schema-nodes.ts";
import { branchesOf, type Facts, type Reading, readMember, readPlace, saysNothing } from "./schema-reading.ts";

/** What a schema says without a value: by path, in constant time per segment. */
export interface SchemaView {
  ruleAt(path: readonly string[]): FieldRule;
  /** The segments of a dot-path; a property's own name may contain dots. */
  pathOf(text: string): readonly string[];
  /** Whether some schema names this path (rather than just allowing it). */
  declares(path: readonly string[]): boolean;
  /** Whether the value at this path may be an object or an array, according to `type`. */
  takes(path: readonly string[], kind: "object" | "array"): boolean;
  /**
   * The declared paths that have no declared members, in the schema's order: at most `MAX_LEAVES`. A list, a file and a sensitive
   * object are one leaf each, and a schema that contains itself ends where it repeats.
   */
  leaves(): readonly (readonly string[])[];
  hasSensitive: boolean;
  hasFiles: boolean;
  hasFills: boolean;
}

/**
 * One state per set of schemas that can apply to a path, so that neither a recursive schema nor a caller who invents
 * endless paths creates more states than the schema has.
 */
interface State {
  rule: FieldRule;
  declared: boolean;
  facts: Facts;
  readings: readonly Reading[];
  next: Map<string, State>;
}

interface Inherited {
  sensitive: boolean;
  fill?: "human" | "agent";
  /** The path above is a file or a list of files. */
  file?: FileRule;
  allowed: boolean;
  declared: boolean;
}

const views = new WeakMap<object, SchemaView>();

/** The view of a schema, built once per schema object. */
export function schemaViewOf(schema: SchemaNode): SchemaView {
  const known = views.get(schema);
  if (known !== undefined) return known;
  const made = createSchemaView(schema);
  views.set(schema, made);
  return made;
}

export function createSchemaView(root: SchemaNode): SchemaView {
  const intern = stateFactory(resolverOf(root));
  const start = intern([{ schema: root, asserts: true }], { sensitive: false, allowed: true, declared: true });

  function stateAt(path: readonly string[]): State {
    let state = start;
    for (const segment of path) state = step(state, segment, intern);
    return state;
  }
  const nodes = [...allSchemas(root)].map(({ node }) => node);
  const names = nodes.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  const dotted = [...new Set(names.filter((name) => name.includes(".")))];
  const declares = (path: readonly string[]) => stateAt(path).declared;
  return {
    ruleAt: (path) => stateAt(path).rule,
    pathOf: (text) => readDeclaredPath(text, dotted, declares),
    declares,
    takes: (path, kind) => stateAt(path).facts[kind],
    leaves: () => leavesOf(start, intern),
    hasSensitive: nodes.some((node) => node["x-sensitive"] === true),
    hasFiles: nodes.some((node) => node["x-file"] !== undefined),
    hasFills: nodes.some((node) => node["x-fill"] !== undefined),
  };
}

/** References can make a small schema name any number of paths. */
const MAX_LEAVES = 1_000;

function leavesOf(start: State, intern: Intern): (readonly string[])[] {
  const found: (readonly string[])[] = [];
  function visit(state: State, path: readonly string[], open: readonly State[]): void {
    for (const name of state.facts.names) {
      if (found.length >= MAX_LEAVES) return;
      const member = step(state, name, intern);
      if (!member.rule.allowed) continue;
      const at = [...path, name];
      const { rule, facts } = member;
      const isLeaf = facts.names.size === 0 || !facts.object || rule.sensitive || rule.file !== undefined;
      if (isLeaf || open.includes(member)) found.push(at);
      else visit(member, at, [...open, member]);
    }
  }
  visit(start, [], [start]);
  return found;
}

type Intern = (roots: readonly Reading[], inherited: Inherited) => State;

function step(state: State, segment: string, intern: Intern): State {
  const { file } = state.rule;
  if (file !== undefined) return fileMember(state, segment, intern);
  const named = state.facts.names.has(segment);
  const matched =
    named || state.facts.patterns.length === 0 ? "" : state.facts.patterns.filter((p) => p.test(segment)).join();
  const index = !named && isIndex(segment);
  const key = named ? `.${segment}` : `${index ? "#" : "*"}${matched}`;
  const known = state.next.get(key);
  if (known !== undefined) return known;

  const found = readMember(state.readings, segment);
  const fits = state.facts.object || (index && state.facts.array);
  const inherited: Inherited = {
    sensitive: state.rule.sensitive,
    ...(state.rule.fill === undefined ? {} : { fill: state.rule.fill }),
    allowed: state.rule.allowed && (found.declared || (fits && !found.refused)),
    declared: found.declared,
  };
  const made = intern(found.readings, inherited);
  state.next.set(key, made);
  return made;
}

/** A file reference is a single value; only the items of a file list have paths of their own. */
function fileMember(state: State, segment: string, intern: Intern): State {
  const { sensitive, fill, file } = state.rule;
  const listed = isIndex(segment) && (file?.maxFiles ?? 1) > 1 && state.readings.length > 0;
  return intern([], {
    sensitive,
    ...(fill === undefined ? {} : { fill }),
    ...(listed && file !== undefined ? { file } : {}),
    allowed: state.rule.allowed && listed,
    declared: listed,
  });
}

function stateFactory(resolve: Resolve): Intern {
  const ids = new Map<unknown, number>();
  const states = new Map<string, State>();
  const idOf = (schema: unknown) => {
    const id = ids.get(schema) ?? ids.size;
    ids.set(schema, id);
    return id;
  };
  return (roots, inherited) => {
    const { sensitive, fill, file, allowed, declared } = inherited;
    const schemas = roots.map(({ schema, asserts }) => `${idOf(schema)}${asserts ? "!" : "?"}`).sort();
    const key = [...new Set(schemas), sensitive, fill, file && idOf(file), allowed, declared].join();
    const known = states.get(key);
    if (known !== undefined) return known;
    const state = makeState(roots, inherited, resolve);
    states.set(key, state);
    return state;
  };
}

function makeState(roots: readonly Reading[], inherited: Inherited, resolve: Resolve): State {
  const readings = branchesOf(roots, resolve);
  let { sensitive, fill, file } = inherited;
  for (const { schema } of readings) {
    if (!isObject(schema)) continue;
    sensitive ||= schema["x-sensitive"] === true;
    if (schema["x-fill"] === "human" || schema["x-fill"] === "agent") fill = schema["x-fill"];
    if (isObject(schema["x-file"])) file ??= schema["x-file"] as FileRule;
  }
  const facts = readings.length === 0 ? saysNothing : readPlace(roots, readings, resolve);
  const rule: FieldRule = Object.freeze({
    allowed: inherited.allowed,
    allowsNull: file === undefined && facts.allowsNull,
    sensitive,
    ...(fill === undefined ? {} : { fill }),
    ...(file === undefined ? {} : { file }),
  });
  return { rule, declared: inherited.declared, facts, readings, next: new Map() };
}
