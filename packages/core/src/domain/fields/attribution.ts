import type { JsonObject } from "@formbridge/contract";
import type { Stamp } from "../evolve.ts";
import type { Attribution } from "../submission.ts";
import { valueAt } from "./apply-patch.ts";

interface Touched {
  set: readonly { path: readonly string[] }[];
  removed: readonly (readonly string[])[];
  /** The fields after the change. */
  fields?: JsonObject;
}

/** Attributes the touched paths to the stamp; entries of paths above and below them are dropped. */
export function attribute(known: Attribution, change: Touched, stamp: Stamp): Attribution {
  const touched = listsAsOne(change);
  const paths = keptPaths(known, { ...change, ...touched });
  for (const { path } of touched.set) paths[path.join(".")] = stamp.version;
  return { paths, removed: removedAfter(known, touched, stamp), writes: writesOf(paths, known, stamp) };
}

/** Builds a new object rather than deleting keys, which would make V8 treat it as slow from then on, in JSON too. */
function keptPaths(known: Attribution, { set, removed, fields = {} }: Touched): Record<string, number> {
  const paths: Record<string, number> = {};
  const before = Object.keys(known.paths);
  if (before.length === 0) return paths;
  const touched = [...set.map(({ path }) => path), ...removed];
  const changed = new Set(touched.map((path) => path.join(".")));
  const above = new Set(touched.flatMap((path) => path.slice(1).map((_, end) => path.slice(0, end + 1).join("."))));
  for (const path of before) {
    // A field whose own name contains a dot has no ancestors.
    const over = Object.hasOwn(fields, path) ? [] : ancestors(path);
    const gone = changed.has(path) || above.has(path) || over.some((ancestor) => changed.has(ancestor));
    if (!gone) paths[path] = known.paths[path] as number;
  }
  return paths;
}

/** Removing an item shifts those behind it, so the list as a whole is attributed to whoever removed it. */
function listsAsOne({ set, removed, fields }: Touched): Touched {
  if (fields === undefined || removed.length === 0) return { set, removed };
  const lists = removed.map((path) => path.slice(0, -1)).filter((path) => Array.isArray(valueAt(fields, path)));
  if (lists.length === 0) return { set, removed };
  const inLists = (path: readonly string[]) =>
    lists.some((list) => list.every((segment, index) => path[index] === segment));
  return {
    set: [...set.filter(({ path }) => !inLists(path)), ...lists.map((path) => ({ path }))],
    removed: removed.filter((path) => !inLists(path)),
  };
}

/** Enough for writers that are a few versions behind, and bounded for writers that keep removing. */
const MAX_REMOVED = 100;

function removedAfter(known: Attribution, { set, removed }: Touched, stamp: Stamp): Attribution["removed"] {
  if (removed.length === 0 && Object.keys(known.removed).length === 0) return known.removed;
  const next = { ...known.removed };
  for (const { path } of set) delete next[path.join(".")];
  for (const path of removed) next[path.join(".")] = stamp.version;
  const latest = Object.entries(next).sort(([, one], [, other]) => other - one);
  return Object.fromEntries(latest.slice(0, MAX_REMOVED));
}

/** The writes that some path still refers to. */
function writesOf(paths: Record<string, number>, known: Attribution, stamp: Stamp): Attribution["writes"] {
  const writes: Attribution["writes"] = {};
  for (const version of new Set(Object.values(paths))) {
    const write = version === stamp.version ? { actor: named(stamp.actor), at: stamp.now } : known.writes[version];
    if (write !== undefined) writes[version] = write;
  }
  return writes;
}

const named = ({ metadata: _told, ...actor }: Stamp["actor"]) => actor;

/** `a.b.c` has the ancestors `a` and `a.b`. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let dot = path.indexOf("."); dot !== -1; dot = path.indexOf(".", dot + 1)) found.push(path.slice(0, dot));
  return found;
}
