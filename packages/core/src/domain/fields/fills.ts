import type { Actor, FieldError, JsonObject } from "@formbridge/contract";
import { canonicalJson } from "../hashing.ts";
import type { CompiledIntake, FieldRule } from "../intake/compiled-intake.ts";
import { placesIn } from "./places.ts";

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
  const touched = new Set([...was.keys(), ...is.keys()].filter((path) => was.get(path) !== is.get(path)));
  return [...touched].map((path) => notYours(path, intake.ruleAt(path.split("."))));
}

/** The outermost places that this filler may not touch, with their values as text. */
function guardedPlaces(fields: JsonObject, intake: CompiledIntake, filler: Filler): Map<string, string> {
  const found = new Map<string, string>();
  let inside: string | undefined;
  for (const { path, value, rule } of placesIn(fields, intake)) {
    const name = path.join(".");
    if (mayFill(rule, filler) || (inside !== undefined && name.startsWith(inside))) continue;
    found.set(name, canonicalJson(value));
    inside = `${name}.`;
  }
  return found;
}
