import type { Json } from "@formbridge/contract";
import { canonicalJson } from "../hashing.ts";
import { isJsonObject, own } from "./json-values.ts";
import { isMasked, type Masking, maskShown } from "./mask.ts";

type Path = readonly string[];

/** A `{ masked: true }` that can't be matched to one stored value. */
export class UnclearMask extends Error {
  readonly path: Path;
  constructor(path: Path) {
    super("no stored value for a mask");
    this.path = path;
  }
}

/**
 * Callers may send back the `{ masked: true }` they were shown, and it is replaced by the stored value. A list is sent
 * whole, so its items are matched by their unmasked parts; if several or none match, it throws UnclearMask rather than
 * guess.
 */
export function unmask(value: Json, stored: Json | undefined, at: { path: Path; intake: Masking }): Json {
  const { path, intake } = at;
  if (!intake.hasSensitive || typeof value !== "object" || value === null) return value;
  if (isMasked(value) && intake.ruleAt(path).sensitive) {
    if (stored === undefined) throw new UnclearMask(path);
    return stored;
  }
  if (Array.isArray(value)) return unmaskList(value, Array.isArray(stored) ? stored : [], at);
  const before = isJsonObject(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      unmask(inner, own(before, name), { path: [...path, name], intake }),
    ]),
  );
}

function unmaskList(
  items: readonly Json[],
  stored: readonly Json[],
  { path, intake }: { path: Path; intake: Masking },
) {
  const placeOf = (index: number): Path => [...path, String(index)];
  const masked = items.map((item, index) => firstMask(item, placeOf(index), intake) !== undefined);
  if (!masked.includes(true)) return [...items];
  const found = match(
    items.map((item, index) => (masked[index] === true ? canonicalJson(item) : undefined)),
    stored.map((item, index) => canonicalJson(maskShown(item, placeOf(index), intake))),
  );
  // A single changed item is clear too, if all others were matched.
  const unknown = items.flatMap((_, index) => (masked[index] === true && found[index] === undefined ? [index] : []));
  const [changed] = unknown;
  const isInPlace = unknown.length === 1 && items.length === stored.length && !found.includes(changed);
  return items.map((item, index) => {
    const from = found[index];
    if (masked[index] !== true) return item;
    if (from !== undefined) return stored[from] as Json;
    if (!isInPlace) throw new UnclearMask(firstMask(item, placeOf(index), intake) ?? placeOf(index));
    return unmask(item, stored[index], { path: placeOf(index), intake });
  });
}

/** Matches sent items to stored ones. Identical-looking items are matched by order if all of them are present. */
function match(sent: readonly (string | undefined)[], shown: readonly string[]): (number | undefined)[] {
  const found: (number | undefined)[] = sent.map(() => undefined);
  for (const text of new Set(sent)) {
    if (text === undefined) continue;
    const places = sent.flatMap((other, index) => (other === text ? [index] : []));
    const sources = shown.flatMap((other, index) => (other === text ? [index] : []));
    if (places.length !== sources.length) continue;
    for (const [order, place] of places.entries()) found[place] = sources[order];
  }
  return found;
}

function firstMask(value: Json, path: Path, intake: Masking): Path | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isMasked(value) && intake.ruleAt(path).sensitive) return path;
  for (const [name, inner] of Object.entries(value)) {
    const found = firstMask(inner, [...path, name], intake);
    if (found !== undefined) return found;
  }
  return undefined;
}
