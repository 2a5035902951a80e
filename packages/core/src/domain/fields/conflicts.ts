import type { JsonObject } from "@formbridge/contract";
import { type PatchResult, valueAt } from "./apply-patch.ts";
import { ancestors } from "./attribution.ts";
import { isSameJson } from "./json-values.ts";

export interface Attempt {
  attempted: Pick<PatchResult, "set" | "removed">;
  current: JsonObject;
  /** The version that set or removed each path. */
  changedAt: Readonly<Record<string, number>>;
  sinceVersion: number;
}

/**
 * The paths that the attempt would change and somebody else has changed since, according to the attribution of the
 * path, its ancestors or its descendants. The same value on both sides is no conflict.
 */
export function conflictingPaths({ attempted, current, changedAt, sinceVersion }: Attempt): string[] {
  const changed = new Set<string>();
  const above = new Set<string>();
  for (const [path, version] of Object.entries(changedAt)) {
    if (version <= sinceVersion) continue;
    changed.add(path);
    for (const parent of ancestors(path)) above.add(parent);
  }
  const isNewer = (path: string) => changed.has(path) || above.has(path) || ancestors(path).some((p) => changed.has(p));

  const found = new Set<string>();
  for (const { path, value } of attempted.set) {
    const name = path.join(".");
    if (isNewer(name) && !isSameJson(valueAt(current, path), value)) found.add(name);
  }
  for (const path of attempted.removed) {
    const name = path.join(".");
    if (isNewer(name) && valueAt(current, path) !== undefined) found.add(name);
  }
  return [...found];
}
