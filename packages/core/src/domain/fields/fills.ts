import type { Actor, FieldError, JsonObject } from "@formbridge/contract";
import { canonicalJson } from "../hashing.ts";
import type { CompiledIntake, FieldRule } from "../intake/compiled-intake.ts";
import { toPointer } from "../intake/schema-nodes.ts";
import { type Place, placesIn } from "./places.ts";

/** Who writes, and whether it is proved that a human does: by a human's own key or a hand-off session, not by what a caller says of itself. */
export interface Filler {
  actor: Actor;
  provenHuman: boolean;
}

export const mayFill = ({ fill }: FieldRule, { actor, provenHuman }: Filler): boolean =>
  fill === undefined || (fill === "human" ? provenHuman && actor.kind === "human" : actor.kind === "agent");

export const notYours = (path: string, { fill }: FieldRule): FieldError => ({
  path,
  code: "custom",
  message: `${path} can only be set by ${fill === "human" ? "a human" : "an agent"}.`,
});

/**
 * A property may say who fills it. Whatever a write did, by whichever spelling, the places that are not the writer's must be as
 * they were: comparing before and after leaves no way around, not through a parent, not through a list.
 */
export function foreignFills(
  change: { before: JsonObject; after: JsonObject; intake: CompiledIntake },
  filler: Filler,
): FieldError[] {
  const { before, after, intake } = change;
  if (!intake.hasFills) return [];
  const was = guardedPlaces(before, intake, filler);
  const is = guardedPlaces(after, intake, filler);
  const touched = [...new Map([...was, ...is])].filter(([at]) => was.get(at)?.text !== is.get(at)?.text);
  return touched.map(([, { path, rule }]) => notYours(path.join("."), rule));
}

/** What came back as it was, from somebody who may not set it, stays with whoever did. */
export function ownLeaves<Leaf extends { path: readonly string[] }>(
  set: readonly Leaf[],
  intake: CompiledIntake,
  filler: Filler,
): readonly Leaf[] {
  if (!intake.hasFills) return set;
  return set.filter(({ path }) => mayFill(intake.ruleAt(path), filler));
}

/** A place, with its value as text. */
type GuardedPlace = Pick<Place, "path" | "rule"> & { text: string };

/** The outermost places that this filler may not touch. By pointer: a name with a dot in it is no path. */
function guardedPlaces(fields: JsonObject, intake: CompiledIntake, filler: Filler): Map<string, GuardedPlace> {
  const found = new Map<string, GuardedPlace>();
  let inside: string | undefined;
  for (const { path, value, rule } of placesIn(fields, intake)) {
    const at = toPointer(path);
    if (mayFill(rule, filler) || (inside !== undefined && at.startsWith(inside))) continue;
    found.set(at, { path, rule, text: canonicalJson(value) });
    inside = `${at}/`;
  }
  return found;
}
