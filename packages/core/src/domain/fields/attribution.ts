import type { Stamp } from "../evolve.ts";
import type { Attribution } from "../submission.ts";

interface Touched {
  set: readonly { path: readonly string[] }[];
  removed: readonly (readonly string[])[];
}

/** Who set what: the touched places get a new entry, and what stood below or above them is no longer told apart. */
export function attribute(
  known: Record<string, Attribution>,
  touched: Touched,
  stamp: Stamp,
): Record<string, Attribution> {
  const next = { ...known };
  const changed = new Set([...touched.set.map((leaf) => leaf.path), ...touched.removed].map((path) => path.join(".")));
  const above = new Set([...changed].flatMap(ancestors));
  for (const path of Object.keys(next)) {
    if (above.has(path) || ancestors(path).some((ancestor) => changed.has(ancestor))) delete next[path];
  }
  for (const path of touched.removed) delete next[path.join(".")];
  const { metadata: _told, ...actor } = stamp.actor;
  const entry: Attribution = { actor, at: stamp.now, version: stamp.version };
  for (const { path } of touched.set) next[path.join(".")] = entry;
  return next;
}

/** `a.b.c` has the ancestors `a` and `a.b`. */
function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let dot = path.indexOf("."); dot !== -1; dot = path.indexOf(".", dot + 1)) found.push(path.slice(0, dot));
  return found;
}
