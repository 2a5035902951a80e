import { isEqual, isObject } from "./changes.ts";

/** A sensitive value, as agents and callers with only a token see it. */
export const isMasked = (value: unknown): boolean =>
  isObject(value) && value.masked === true && Object.keys(value).length === 1;

/** Is the value masked, or something inside it? */
export function holdsMask(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsMask);
  return isObject(value) && (isMasked(value) || Object.values(value).some(holdsMask));
}

/** Could `seen` be how the server shows `value`? A mask may represent anything. */
export function couldBe(seen: unknown, value: unknown): boolean {
  if (isMasked(seen)) return value !== undefined;
  if (Array.isArray(seen)) {
    return Array.isArray(value) && seen.length === value.length && seen.every((item, at) => couldBe(item, value[at]));
  }
  if (!isObject(seen) || !isObject(value)) return isEqual(seen, value);
  const names = Object.keys(seen);
  return names.length === Object.keys(value).length && names.every((name) => couldBe(seen[name], value[name]));
}
