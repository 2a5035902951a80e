import { isObject, isSame, type Json, type JsonObject } from "./wire.ts";

export type Path = readonly (string | number)[];

export const dotted = (path: Path): string => path.join(".");

export function valueAt(values: Json, path: Path): Json | undefined {
  let at: Json | undefined = values;
  for (const part of path) {
    if (Array.isArray(at)) at = at[Number(part)];
    else at = isObject(at) && Object.hasOwn(at, String(part)) ? at[String(part)] : undefined;
  }
  return at;
}

/** Sets a value, or takes it away with undefined, and makes the objects on the way. */
export function setAt(values: JsonObject, path: Path, value: Json | undefined): void {
  const last = path.at(-1);
  if (last === undefined) return;
  // An array takes its indices as keys, too.
  let at = values;
  for (const [index, part] of path.slice(0, -1).entries()) {
    const next = at[String(part)];
    if (!isObject(next) && !Array.isArray(next)) {
      if (value === undefined) return;
      at[String(part)] = typeof path[index + 1] === "number" ? [] : {};
    }
    at = at[String(part)] as JsonObject;
  }
  if (value !== undefined) at[String(last)] = value;
  else if (Array.isArray(at)) at.splice(Number(last), 1);
  else delete at[String(last)];
}

/** A file is named by its upload alone: the rest is the server's to say. */
function sendable(value: Json): Json {
  if (Array.isArray(value)) return value.map(sendable);
  if (!isObject(value)) return value;
  if (typeof value.uploadId === "string" && typeof value.sha256 === "string") return { uploadId: value.uploadId };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sendable(member)]));
}

/** What has to be sent so that `from` becomes `to`: a JSON Merge Patch. Empty when nothing changed. */
export function patchOf(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[name], to[name]];
    if (isSame(before, after)) continue;
    if (after === undefined) patch[name] = null;
    else if (isObject(before) && isObject(after) && after.uploadId === undefined) patch[name] = patchOf(before, after);
    else patch[name] = sendable(after);
  }
  return patch;
}

/** Somebody else wrote meanwhile: their values, with what was changed here on top. */
export function rebase(base: JsonObject, mine: JsonObject, theirs: JsonObject): JsonObject {
  const merged = structuredClone(theirs);
  for (const name of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    const [before, after, there] = [base[name], mine[name], merged[name]];
    if (isSame(before, after)) continue;
    if (after === undefined) delete merged[name];
    else if (isObject(after) && isObject(there)) merged[name] = rebase(isObject(before) ? before : {}, after, there);
    else merged[name] = structuredClone(after);
  }
  return merged;
}
