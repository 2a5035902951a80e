import type { Actor, FieldError, JsonObject, NextAction } from "@formbridge/contract";
import { canonicalJson } from "../hashing.ts";
import type { CompiledIntake, FieldRule } from "../intake/compiled-intake.ts";
import { toPointer } from "../intake/schema-nodes.ts";
import { type Place, placesIn } from "./places.ts";

/** Who writes, and to which intake. */
export interface Filler {
  actor: Actor;
  intake: CompiledIntake;
}

const needsCode = ({ definition }: CompiledIntake): boolean => definition.humanProof === "code";

/**
 * A human must be identified, by a session or by a human's own API key; an intake may require more than a link as
 * proof.
 */
const isHumanEnough = ({ actor, intake }: Filler): boolean =>
  actor.kind === "human" && actor.proof !== undefined && !(needsCode(intake) && actor.proof === "link");

export const mayFill = ({ fill }: FieldRule, filler: Filler): boolean =>
  fill === undefined || (fill === "human" ? isHumanEnough(filler) : filler.actor.kind === "agent");

export function notYours(path: string, { fill }: FieldRule, { actor, intake }: Filler): FieldError {
  if (fill !== "human") return { path, code: "custom", message: `${path} can only be set by an agent.` };
  const message =
    needsCode(intake) && actor.proof === "link"
      ? `${path} can only be set by a human who entered a code from a mail: this session was opened by a link alone.`
      : `${path} can only be set by a human.`;
  return { path, code: "custom", message };
}

/** How a human-only field can be filled in if the caller can't do it. */
export function handOverFor({ path, message }: { path: string; message: string }, intake: CompiledIntake): NextAction {
  const how = needsCode(intake) ? "Hand the submission over with kind magic_link." : "Hand the submission over.";
  const kind = needsCode(intake) ? ({ kind: "magic_link" } as const) : {};
  return { action: "request_handoff", field: path, hint: `${message} ${how}`, ...kind };
}

/**
 * A property may say who fills it in. Compares the fields before and after the write, so that no spelling of a path, no
 * parent and no list gets around it.
 */
export function foreignFills(
  { before, after }: { before: JsonObject; after: JsonObject },
  filler: Filler,
): FieldError[] {
  const { intake } = filler;
  if (!intake.hasFills) return [];
  const was = guardedPlaces(before, filler);
  const is = guardedPlaces(after, filler);
  const touched = [...new Map([...was, ...is])].filter(([at]) => was.get(at)?.text !== is.get(at)?.text);
  return touched.map(([, { path, rule }]) => notYours(path.join("."), rule, filler));
}

/** A path with its value as text. */
type GuardedPlace = Pick<Place, "path" | "rule"> & { text: string };

/** The outermost paths that this filler may not change, by JSON pointer, because a name may contain a dot. */
function guardedPlaces(fields: JsonObject, filler: Filler): Map<string, GuardedPlace> {
  const found = new Map<string, GuardedPlace>();
  let inside: string | undefined;
  for (const { path, value, rule } of placesIn(fields, filler.intake)) {
    const at = toPointer(path);
    if (mayFill(rule, filler) || (inside !== undefined && at.startsWith(inside))) continue;
    found.set(at, { path, rule, text: canonicalJson(value) });
    inside = `${at}/`;
  }
  return found;
}
