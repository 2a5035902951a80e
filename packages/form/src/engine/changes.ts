/** Where a value stands: property names, from the root. A list is one value, so no path leads into one. */
export type FieldPath = readonly string[];

export interface FieldChange {
  path: FieldPath;
  /** Absent when the field was emptied. */
  value?: unknown;
}

/** Somebody has begun to type: where, and over which value. */
export interface Typing {
  path: readonly (string | number)[];
  over: unknown;
}

/**
 * What a person changed, from what the form showed before and shows now. Objects are compared member by member, so that
 * two people can fill in one address together; a list is one value, because its members have no names of their own.
 */
export function changesBetween(before: unknown, after: unknown, path: FieldPath = []): FieldChange[] {
  const one = pruned(before);
  const other = pruned(after);
  if (isObject(one) || isObject(other)) {
    const was = isObject(one) ? one : {};
    const is = isObject(other) ? other : {};
    const replaced = (one !== undefined && !isObject(one)) || (other !== undefined && !isObject(other));
    if (replaced) return [change(path, other)];
    const names = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...names].flatMap((name) => changesBetween(own(was, name), own(is, name), [...path, name]));
  }
  return isEqual(one, other) ? [] : [change(path, other)];
}

/** A field may be called `toString`, which every object has. */
const own = (object: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const change = (path: FieldPath, value: unknown): FieldChange => (value === undefined ? { path } : { path, value });

/** Empty objects and absent values are the same: nothing was entered. */
export function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pruned(item) ?? null);
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, pruned(member)] as const)
    .filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The merge patch for `setFields`: dot-paths, so that writers of neighbouring fields do not conflict. */
export function patchOf(changes: readonly FieldChange[]): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const { path, value = null } of changes) {
    if (path.every((name) => name !== "" && !name.includes("."))) patch[path.join(".")] = value;
    else nest(patch, path, value);
  }
  return patch;
}

/** A name with a dot in it can't be part of a dot-path: its object is patched member by member. */
function nest(patch: Record<string, unknown>, path: FieldPath, value: unknown): void {
  let here = patch;
  for (const name of path.slice(0, -1)) {
    const known = own(here, name);
    const inner = isObject(known) ? known : {};
    here[name] = inner;
    here = inner;
  }
  here[path.at(-1) ?? ""] = value;
}

export function withChange(fields: Record<string, unknown>, { path, value }: FieldChange): Record<string, unknown> {
  const [name, ...rest] = path;
  if (name === undefined) return fields;
  const { [name]: _member, ...others } = fields;
  const member = own(fields, name);
  if (rest.length > 0) {
    const inner = withChange(
      isObject(member) ? member : {},
      value === undefined ? { path: rest } : { path: rest, value },
    );
    return { ...fields, [name]: inner };
  }
  return value === undefined ? others : { ...fields, [name]: value };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
  );
}
