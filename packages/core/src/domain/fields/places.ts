import type { Json, JsonObject } from "@formbridge/contract";
import type { CompiledIntake, FieldRule } from "../intake/compiled-intake.ts";

export interface Place {
  path: readonly string[];
  value: Json;
  rule: FieldRule;
}

/** Every path of the fields, outermost first, including list items. The members of a file aren't included. */
export function* placesIn(
  fields: JsonObject,
  intake: CompiledIntake,
  at: readonly string[] = [],
): Generator<Place, void, undefined> {
  for (const [name, value] of Object.entries(fields)) {
    const path = [...at, name];
    const rule = intake.ruleAt(path);
    yield { path, value, rule };
    if (rule.file === undefined && typeof value === "object" && value !== null) {
      yield* placesIn(value as JsonObject, intake, path);
    }
  }
}
