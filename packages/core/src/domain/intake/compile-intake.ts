import type { IntakeDefinition, JsonObject } from "@formbridge/contract";
import { canonicalJson, sha256 } from "../hashing.ts";
import { autoApproves } from "./auto-approve.ts";
import type { CompiledIntake, Findings } from "./compiled-intake.ts";
import { toFindings } from "./findings.ts";
import { createSchemaValidator } from "./schema-validator.ts";
import { schemaViewOf } from "./schema-view.ts";

/** Compiles a checked definition. Throws ajv's error if the schema is invalid. */
export function compileIntake(definition: IntakeDefinition): CompiledIntake {
  const validator = createSchemaValidator(definition.schema);
  const { ruleAt, pathOf, hasSensitive, hasFiles, hasFills } = schemaViewOf(definition.schema);
  const context = { validator, ruleAt, hasSensitive };
  // A write needs its findings several times: to count, to decide, to respond. Fields are never mutated.
  const known = new WeakMap<JsonObject, Findings>();
  return {
    definition,
    digest: sha256(canonicalJson(definition)),
    validate(fields) {
      const findings = known.get(fields) ?? toFindings(validator.errorsOf(fields), context);
      known.set(fields, findings);
      return findings;
    },
    ruleAt,
    pathOf,
    hasSensitive,
    hasFiles,
    hasFills,
    autoApproves: (gateIndex, data) => autoApproves(definition.approvalGates?.[gateIndex], data),
  };
}
