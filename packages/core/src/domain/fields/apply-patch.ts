import type { FieldError, Json, JsonObject } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { CompiledIntake, FieldRule } from "../intake/compiled-intake.ts";
import { notAField } from "../intake/error-meaning.ts";
import { readFieldPath } from "../intake/field-path.ts";
import { isIndex } from "../intake/schema-nodes.ts";
import { type SchemaView, schemaViewOf } from "../intake/schema-view.ts";
import { assertStorable, isJsonObject, isSameJson, MAX_DEPTH, own } from "./json-values.ts";
import { isMasked } from "./mask.ts";
import { UnclearMask, unmask } from "./unmask.ts";

export type Path = readonly string[];

export interface PatchResult {
  fields: JsonObject;
  /**
   * The values that the patch sets, by leaf. Objects are descended into; arrays, files, scalars and empty objects are
   * leaves.
   */
  set: { path: Path; value: Json }[];
  /** The paths that existed and were deleted, but not those replaced by another value. */
  removed: Path[];
}

/** The state of one patch application. Containers are copied on first write, so that `current` stays unchanged. */
interface Work {
  intake: CompiledIntake;
  view: SchemaView;
  copied: WeakSet<object>;
  set: { path: Path; value: Json }[];
  removed: Path[];
  refused: Map<string, FieldError>;
}

type Container = JsonObject | Json[];

/** Resolving a path tries every position where a literal name could end, which is quadratic in its segments. */
const MAX_EFFORT = 100_000;

/** RFC 7396 with dot-paths at the top level and null where the schema takes it (CONTRACT §2, §13). */
export function applyPatch(current: JsonObject, patch: Record<string, unknown>, intake: CompiledIntake): PatchResult {
  assertStorable(patch);
  const view = schemaViewOf(intake.definition.schema);
  const work: Work = { intake, view, copied: new WeakSet(), set: [], removed: [], refused: new Map() };
  const root: JsonObject = { ...current };
  work.copied.add(root);
  let overlapping = false;
  let effort = 0;
  for (const [key, value] of Object.entries(patch)) {
    effort += key.includes(".") ? key.split(".", MAX_DEPTH + 1).length ** 2 : 0;
    if (effort > MAX_EFFORT)
      throw new ContractError("bad_request", "The patch has too many long paths. Split it into several calls.");
    const path = pathOf(key, root, view);
    if (path.length > 1) assertStorable(value, path);
    overlapping ||= path.length > 1;
    writeAt(root, { path, depth: 0, value: value as Json }, work);
  }
  if (work.refused.size > 0) {
    throw new ContractError("invalid", "Some of the fields can't be stored.", { fields: [...work.refused.values()] });
  }
  const result = { fields: root, set: work.set, removed: work.removed };
  return overlapping ? reconciled(result, current) : result;
}

function pathOf(key: string, root: JsonObject, view: SchemaView): string[] {
  if (!key.includes(".")) return [key];
  if (key.split(".", MAX_DEPTH + 1).length > MAX_DEPTH) {
    throw new ContractError("bad_request", `A path can have at most ${MAX_DEPTH} segments.`);
  }
  const path = readFieldPath(key, view, (at) => valueAt(root, at) !== undefined);
  return path;
}

interface Write {
  path: Path;
  /** How many segments lead to the container being written. */
  depth: number;
  value: Json;
}

function writeAt(container: Container, write: Write, work: Work): void {
  const { path, depth, value } = write;
  const segment = path[depth];
  if (segment === undefined) return;
  const here = path.slice(0, depth + 1);
  if (Array.isArray(container) && !(isIndex(segment) && Number(segment) <= container.length)) {
    const { length } = container;
    const places = length === 0 ? "it is empty" : `its items are 0 to ${length - 1}, the next one is ${length}`;
    refuse(path, `${here.join(".")} isn't an item of the list: ${places}`, work);
    return;
  }
  if (depth === path.length - 1) {
    merge(container, { path, segment, value }, work);
    return;
  }
  const found = own(container, segment);
  const { allowed, allowsNull } = work.intake.ruleAt(path);
  if (value === null && !allowsNull && typeof found !== "object") {
    // There is nothing to delete below a missing value.
    if (!allowed) refuse(path, notAField(path), work);
    return;
  }
  const inner = enter(found, { at: here, next: path[depth + 1] ?? "" }, work);
  put(container, segment, inner);
  writeAt(inner, { path, depth: depth + 1, value }, work);
}

/** The container to descend into: the existing one, or a new one of the kind that the schema accepts. */
function enter(found: Json | undefined, { at, next }: { at: Path; next: string }, work: Work): Container {
  if (typeof found === "object" && found !== null) return writable(found, work);
  const list = isIndex(next) && work.view.takes(at, "array") && !work.view.takes(at, "object");
  return writable(list ? [] : {}, work);
}

function writable(container: Container, { copied }: Work): Container {
  if (copied.has(container)) return container;
  const copy = Array.isArray(container) ? [...container] : { ...container };
  copied.add(copy);
  return copy;
}

interface Member {
  path: Path;
  segment: string;
  value: Json;
}

function merge(container: Container, { path, segment, value }: Member, work: Work): void {
  const rule = work.intake.ruleAt(path);
  const found = own(container, segment);
  if (!rule.allowed && !(value === null && found !== undefined)) {
    refuse(path, notAField(path), work);
    return;
  }
  if (value === null && !rule.allowsNull) {
    if (found === undefined) return;
    remove(container, segment);
    work.removed.push(path);
    return;
  }
  if (!isJsonObject(value) || rule.file !== undefined || isKept(value, rule)) {
    const meant = unmasked({ value, found, path }, work);
    if (meant === undefined) return;
    checkInside(meant, path, work);
    put(container, segment, meant);
    work.set.push({ path, value: meant });
    return;
  }
  if (!work.view.takes(path, "object")) {
    // A value of the wrong type is stored whole; its parts have no paths of their own.
    const merged = plainMerge(found, value);
    put(container, segment, merged);
    work.set.push({ path, value: merged });
    return;
  }
  const into = writable(isJsonObject(found) ? found : {}, work);
  const before = work.set.length;
  for (const [name, inner] of Object.entries(value)) {
    merge(into, { path: [...path, name], segment: name, value: inner }, work);
  }
  put(container, segment, into);
  if (!isJsonObject(found) && work.set.length === before) work.set.push({ path, value: into });
}

const isKept = (value: Json, { sensitive }: FieldRule): boolean => sensitive && isMasked(value);

/** The value with masks replaced by stored values; undefined if it was refused. */
function unmasked(sent: { value: Json; found: Json | undefined; path: Path }, work: Work): Json | undefined {
  const { value, found, path } = sent;
  try {
    return unmask(value, found, { path, intake: work.intake });
  } catch (error) {
    if (!(error instanceof UnclearMask)) throw error;
    const at = error.path.join(".");
    const how = "send its value, or change the others by their paths (such as list.0.name)";
    refuse(error.path, `${at} is masked, and it isn't clear which stored value to keep: ${how}`, work);
    return undefined;
  }
}

/** RFC 7396 where the schema doesn't apply. */
function plainMerge(found: Json | undefined, patch: JsonObject): JsonObject {
  const merged: JsonObject = isJsonObject(found) ? { ...found } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = isJsonObject(value) ? plainMerge(own(merged, name), value) : value;
  }
  return merged;
}

/** Arrays are stored whole, so check the objects inside them here. */
function checkInside(value: Json, path: Path, work: Work): void {
  if (typeof value !== "object" || value === null || work.intake.ruleAt(path).file !== undefined) return;
  if (!work.view.takes(path, Array.isArray(value) ? "array" : "object")) return;
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, name];
    if (!work.intake.ruleAt(at).allowed) refuse(at, notAField(at), work);
    else checkInside(inner, at, work);
  }
}

function put(container: Container, segment: string, value: Json): void {
  if (Array.isArray(container)) container[Number(segment)] = value;
  else container[segment] = value;
}

function remove(container: Container, segment: string): void {
  if (Array.isArray(container)) container.splice(Number(segment), 1);
  else delete container[segment];
}

/** Enough to fix the patch; a refusal must not be larger than what was refused. */
const MAX_REFUSED = 100;

function refuse(at: Path, message: string, { refused }: Work): void {
  if (refused.size >= MAX_REFUSED) return;
  const path = at.join(".");
  if (!refused.has(path)) refused.set(path, { path, code: "custom", message });
}

/** Two keys of one patch may write the same path: the later one wins, and every value is the one that was stored. */
function reconciled({ fields, set, removed }: PatchResult, current: JsonObject): PatchResult {
  const last = new Map<string, PatchResult["set"][number]>();
  for (const { path } of set) {
    const value = valueAt(fields, path);
    const key = JSON.stringify(path);
    last.delete(key);
    if (value !== undefined) last.set(key, { path, value });
  }
  const gone = removed.flatMap((path): Path[] => {
    const was = valueAt(current, path);
    if (was === undefined) return [];
    // If a list lost an item, another one is now at its index.
    const inList = Array.isArray(valueAt(fields, path.slice(0, -1)));
    return inList ? [path] : lostBelow({ was, is: valueAt(fields, path) }, path);
  });
  return { fields, set: [...last.values()], removed: gone };
}

/** What was deleted and partly set again (`a: null`, then `a.b`) lost the other members. */
function lostBelow({ was, is }: { was: Json | undefined; is: Json | undefined }, path: Path): Path[] {
  if (is === undefined) return [path];
  if (!isJsonObject(was) || !isJsonObject(is)) return [];
  return Object.keys(was).flatMap((name) => lostBelow({ was: was[name], is: own(is, name) }, [...path, name]));
}

/** The leaves whose value changed; an unchanged value stays attributed to whoever set it. */
export function changedLeaves(set: PatchResult["set"], before: JsonObject): PatchResult["set"] {
  return set.filter(({ path, value }) => !isSameJson(valueAt(before, path), value));
}

export function valueAt(from: Json, path: Path): Json | undefined {
  let here: Json | undefined = from;
  for (const segment of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = own(here, segment);
  }
  return here;
}
