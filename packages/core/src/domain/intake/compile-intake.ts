import type { IntakeDefinition } from "@formbridge/contract";
import { canonicalJson, sha256 } from "../hashing.ts";
import { autoApproves } from "./auto-approve.ts";
import type { CompiledIntake } from "./compiled-intake.ts";
import { toFindings } from "./findings.ts";
import { createSchemaValidator } from "./schema-validator.ts";
import { viewOf } from "./schema-view.ts";

/** Makes a checked definition ready. Throws what ajv throws when the schema is none. */
export function compileIntake(definition: IntakeDefinition): CompiledIntake {
  const validator = createSchemaValidator(definition.schema);
  const { ruleAt, hasSensitive } = viewOf(definition.schema);
  const context = { validator, ruleAt, hasSensitive };
  return {
    definition,
    digest: sha256(canonicalJson(definition)),
    validate: (fields) => toFindings(validator.errorsOf(fields), context),
    ruleAt,
    hasSensitive,
    autoApproves: (gateIndex, data) => autoApproves(definition.approvalGates?.[gateIndex], data),
  };
}
