import { isObject } from "@formbridge/core";

type Fields = Record<string, unknown>;

/** For a path in a patch: `true` keeps it, `false` removes it, a string renames its last segment. */
type Verdict = (path: string) => boolean | string;

/**
 * A patch without some of its paths. Keys may be dot-paths, as in `setFields`; an object that loses all its members is
 * removed.
 */
export function edited(fields: Fields, verdict: Verdict, above = ""): Fields {
  const left: Fields = {};
  for (const [key, value] of Object.entries(fields)) {
    const path = `${above}${key}`;
    const outcome = verdict(path);
    if (outcome === false) continue;
    const name = outcome === true ? key : renamed(key, outcome);
    if (!isObject(value) || Object.keys(value).length === 0) {
      left[name] = value;
      continue;
    }
    const inner = edited(value, verdict, `${path}.`);
    if (Object.keys(inner).length > 0) left[name] = inner;
  }
  return left;
}

const renamed = (key: string, last: string): string => [...key.split(".").slice(0, -1), last].join(".");

/** Every path in a patch, both objects and their members. */
export const pathsIn = (fields: Fields, above = ""): string[] =>
  Object.entries(fields).flatMap(([key, value]) => [
    `${above}${key}`,
    ...(isObject(value) ? pathsIn(value, `${above}${key}.`) : []),
  ]);
