import type { FieldError, FileRule, IntakeDefinition, Json, JsonObject } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";

/** What a validation found. `errors` includes the missing ones, with code `required` or `file_required`. */
export interface Findings {
  missing: string[];
  errors: FieldError[];
}

/** What the schema says of one place in the fields. */
export interface FieldRule {
  /** Somebody declared it: in `properties`, `patternProperties`, or by a schema that allows more. */
  allowed: boolean;
  /** The property's own schema takes null as a value. */
  allowsNull: boolean;
  sensitive: boolean;
  fill?: "human" | "agent";
  file?: FileRule;
}

/** A definition made ready: compiled once per version, asked on every write. Pure. */
export interface CompiledIntake {
  definition: IntakeDefinition;
  digest: Hash;
  validate(fields: JsonObject): Findings;
  /** The rule for a place, by its path segments (array indexes as digits). */
  ruleAt(path: readonly string[]): FieldRule;
  /** The segments of a dot-path, in which a declared name may have dots of its own. */
  pathOf(text: string): readonly string[];
  /** Does the schema declare anything sensitive at all? */
  hasSensitive: boolean;
  /** Does it declare a file, or say of a place who fills it? Most do not, and their writes need not look. */
  hasFiles: boolean;
  hasFills: boolean;
  /** Evaluates a gate's JSON Logic. */
  autoApproves(gateIndex: number, data: Json): boolean;
}
