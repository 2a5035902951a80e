import type { FieldError, FileRule, IntakeDefinition, Json, JsonObject } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";

/** The findings of a validation. `errors` includes the missing ones, with code `required` or `file_required`. */
export interface Findings {
  missing: string[];
  errors: FieldError[];
}

/** What the schema says about one path in the fields. */
export interface FieldRule {
  /** Declared in `properties` or `patternProperties`, or allowed by a schema that permits more. */
  allowed: boolean;
  /** The property's own schema accepts null. */
  allowsNull: boolean;
  sensitive: boolean;
  fill?: "human" | "agent";
  file?: FileRule;
}

/** A compiled definition: built once per version, used on every write. Pure. */
export interface CompiledIntake {
  definition: IntakeDefinition;
  digest: Hash;
  validate(fields: JsonObject): Findings;
  /** The rule for a path, by its segments (array indexes as digits). */
  ruleAt(path: readonly string[]): FieldRule;
  /** The segments of a dot-path; a declared name may contain dots itself. */
  pathOf(text: string): readonly string[];
  /** Whether the schema declares anything sensitive. */
  hasSensitive: boolean;
  /** Whether it declares files, or says who fills in a field. Most don't, and their writes can skip these checks. */
  hasFiles: boolean;
  hasFills: boolean;
  /** Evaluates a gate's JSON Logic. */
  autoApproves(gateIndex: number, data: Json): boolean;
}
