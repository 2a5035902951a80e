/*
 * What a definition must be before anybody can fill it in, and why each refusal exists:
 *
 * - shape: everything below reads a definition without asking again.
 * - depth and number of fields: both bound the time that compiling and each validation take.
 * - `__proto__`, `prototype`, `constructor` as names: fields with these names could reach into the objects that hold them.
 * - unknown keywords and formats: a typo in a rule would silently be no rule.
 * - references out of the document: a schema must mean the same tomorrow, and reading it must not call anybody.
 * - references in a circle: validation would not end.
 * - slow regular expressions: one text from a caller could hold the process.
 * - `x-` keywords, steps, gates, destination: a mistake there shows only when a submission is under way.
 */
import { type ApprovalGate, FileRuleSchema, type IntakeDefinition, IntakeDefinitionSchema } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { checkEventTypes } from "../webhooks/check-event-types.ts";
import { ruleProblems } from "./auto-approve.ts";
import { checkDestination, checkEventWebhooks } from "./check-destination.ts";
import { checkSchema } from "./check-schema.ts";
import { Problems, type ShapeCheck } from "./definition-problems.ts";
import { readFieldPath } from "./field-path.ts";
import { toFindings } from "./findings.ts";
import { isObject, type SchemaNode } from "./schema-nodes.ts";
import { createSchemaValidator } from "./schema-validator.ts";
import { createSchemaView } from "./schema-view.ts";

export interface DefinitionLimits {
  /** Properties in the whole schema. */
  maxFields?: number;
}

const MAX_FIELDS = 500;
const MAX_DEPTH = 64;
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

// Through JSON: the contract's schemas carry symbols that ajv does not know.
const asSchema = (schema: unknown): SchemaNode => JSON.parse(JSON.stringify(schema)) as SchemaNode;
const shape = shapeCheck(asSchema(IntakeDefinitionSchema));
const fileShape = shapeCheck(asSchema(FileRuleSchema));

/** The definition, if it is one; otherwise a ContractError that names every problem by its place. */
export function checkDefinition(value: unknown, { maxFields = MAX_FIELDS }: DefinitionLimits = {}): IntakeDefinition {
  const problems = new Problems();
  checkTree(value, problems);
  refuseIfAny(problems);
  shape(value, [], problems);
  refuseIfAny(problems);

  const definition = value as IntakeDefinition;
  checkSchema(definition.schema, { maxFields, fileShape }, problems);
  checkGates(definition, problems);
  checkDestination(definition.destination, problems);
  checkEventWebhooks(definition.eventWebhooks, problems);
  checkSteps(definition, problems);
  checkEventTypes(definition, problems);
  refuseIfAny(problems);
  return definition;
}

function refuseIfAny({ list }: Problems): void {
  if (list.length === 0) return;
  const [first] = list;
  const others = list.length > 1 ? `, and ${list.length - 1} more` : "";
  throw new ContractError("invalid", `The intake definition can't be used: ${first?.message ?? ""}${others}.`, {
    fields: list,
  });
}

/** JSON at all, not too deep, no reserved name. Without recursion, so that no input can exhaust the stack. */
function checkTree(value: unknown, problems: Problems): void {
  const open: { value: unknown; at: readonly string[] }[] = [{ value, at: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: here, at } = next;
    if (at.length > MAX_DEPTH + 1) {
      problems.add(at.slice(0, 8), `is nested deeper than ${MAX_DEPTH} levels`);
      return;
    }
    if (typeof here !== "object" || here === null) {
      if (!isJsonScalar(here)) problems.add(at, "is not JSON");
      continue;
    }
    for (const name of Object.keys(here)) {
      if (RESERVED.has(name)) problems.add([...at, name], "is a reserved name");
      else open.push({ value: (here as Record<string, unknown>)[name], at: [...at, name] });
    }
  }
}

const isJsonScalar = (value: unknown) =>
  value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);

function shapeCheck(schema: SchemaNode): ShapeCheck {
  const validator = createSchemaValidator(schema);
  const context = {
    validator,
    hasSensitive: false,
    ruleAt: () => ({ allowed: true, allowsNull: false, sensitive: false }),
  };
  return (value, at, problems) => {
    for (const { path, message, ...rest } of toFindings(validator.errorsOf(value), context).errors) {
      const says = message.replaceAll("of this intake", "of a definition").replace("the submission", "the definition");
      problems.list.push({ ...rest, path: [...at, path].filter((part) => part !== "").join("."), message: says });
    }
  };
}

function checkGates({ approvalGates = [] }: IntakeDefinition, problems: Problems): void {
  const names = new Set<string>();
  for (const [index, gate] of approvalGates.entries()) {
    const at = ["approvalGates", String(index)];
    if (names.has(gate.name)) problems.add([...at, "name"], `is used by two gates: ${gate.name}`);
    names.add(gate.name);
    checkReviewers(gate, [...at, "reviewers"], problems);
    if (gate.autoApproveIf === undefined) continue;
    for (const { at: inner, message } of ruleProblems(gate.autoApproveIf)) {
      problems.add([...at, "autoApproveIf", ...inner], message);
    }
  }
}

/** Mail goes there: one address, and nothing that could be read as more than one. */
const ADDRESS = /^[^\s@<>(),;:\\"[\]]+@[^\s@<>(),;:\\"[\]]+$/;
const MAX_ADDRESS = 254;

/**
 * Ids and roles are not held against what there is: a key may be made after the gate that it is for, and an admin stands in
 * anywhere. What can never come true is refused.
 */
function checkReviewers({ reviewers, escalateAfterMs }: ApprovalGate, at: readonly string[], problems: Problems): void {
  const { escalateTo, ...own } = reviewers;
  if (escalateTo !== undefined && escalateAfterMs === undefined) {
    problems.add([...at, "escalateTo"], "is never asked: the gate has no escalateAfterMs");
  }
  for (const [group, place] of [[own, at] as const, [escalateTo ?? {}, [...at, "escalateTo"]] as const]) {
    const lists = Object.values(group);
    if (lists.length > 0 && lists.every((list) => list.length === 0)) {
      problems.add(place, "names nobody; leave the lists out to take every reviewer");
    }
    for (const [index, email] of (group.emails ?? []).entries()) {
      if (ADDRESS.test(email) && email.length <= MAX_ADDRESS) continue;
      problems.add([...place, "emails", String(index)], "is no e-mail address", "invalid_format");
    }
  }
}

function checkSteps({ uiHints, schema }: IntakeDefinition, problems: Problems): void {
  const steps = uiHints?.steps ?? [];
  // A view of a broken schema says nothing, and its problems are listed already.
  if (steps.length === 0 || !isObject(schema) || problems.list.length > 0) return;
  const view = createSchemaView(schema);
  for (const [index, step] of steps.entries()) {
    for (const [position, field] of step.fields.entries()) {
      if (view.declares(readFieldPath(field, view))) continue;
      problems.add(
        ["uiHints", "steps", String(index), "fields", String(position)],
        `is not a field of the schema: ${field}`,
      );
    }
  }
}
