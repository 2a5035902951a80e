import type { FieldConflict } from "./error.ts";

type Fields = Record<string, unknown>;

export interface Divergence {
  /** What this client wants to change: a merge patch whose keys may be dot-paths. */
  patch: Record<string, unknown>;
  /** The fields as this client knew them. */
  base: Fields;
  /** The fields as they are now; sensitive values may be masked. */
  current: Fields;
  /** The paths that the server reports as conflicts, since it knows who wrote what. Without them, values are compared. */
  listed?: readonly string[];
}

/** The fields of the patch that somebody else changed too, to something else. Objects are entered: a list is one field. */
export function findConflicts({ patch, base, current, listed }: Divergence): FieldConflict[] {
  return leavesOf(patch).flatMap(({ names, value: mine }): FieldConflict[] => {
    const path = names.join(".");
    const before = valueIn(base, names);
    const theirs = valueIn(current, names);
    const differs =
      listed === undefined
        ? !isSame(theirs, before) && !isSame(theirs ?? null, mine ?? null)
        : listed.some((other) => overlaps(other, path));
    return differs ? [{ path, base: before, mine, theirs }] : [];
  });
}

interface Leaf {
  /** The key of the patch, which may be a dot-path, then names. */
  names: readonly string[];
  value: unknown;
}

/** What a merge patch sets, place by place. An object in it changes only the members that it names. */
function leavesOf(patch: Fields, above: readonly string[] = []): Leaf[] {
  return Object.entries(patch).flatMap(([name, value]): Leaf[] => {
    const names = [...above, name];
    return isObject(value) && Object.keys(value).length > 0 ? leavesOf(value, names) : [{ names, value }];
  });
}

/** Keep this client's value, keep the other one, or write a third. */
export type Resolution = "mine" | "theirs" | { value: unknown };

/** The patch that is left once every conflict is resolved. */
export function applyResolutions(
  patch: Record<string, unknown>,
  resolutions: ReadonlyMap<string, Resolution>,
  above: readonly string[] = [],
): Record<string, unknown> {
  const left: Record<string, unknown> = {};
  for (const [name, mine] of Object.entries(patch)) {
    const names = [...above, name];
    if (isObject(mine) && Object.keys(mine).length > 0) {
      const inner = applyResolutions(mine, resolutions, names);
      if (Object.keys(inner).length > 0) left[name] = inner;
      continue;
    }
    const resolution = resolutions.get(names.join(".")) ?? "mine";
    if (resolution === "theirs") continue;
    left[name] = resolution === "mine" ? mine : resolution.value;
  }
  return left;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const overlaps = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

const valueIn = (fields: unknown, [key = "", ...names]: readonly string[]): unknown =>
  names.reduce(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    valueAt(fields, key),
  );

/** A literal property whose name contains a dot wins over the path, as it does on the server. */
export function valueAt(fields: unknown, path: string): unknown {
  if (typeof fields !== "object" || fields === null) return undefined;
  if (Object.hasOwn(fields, path)) return (fields as Fields)[path];
  let value: unknown = fields;
  for (const segment of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/** Equal as JSON, whatever the order of keys. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        isSame((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  );
}
