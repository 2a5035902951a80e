/*
 * What is checked in a definition, and why:
 *
 * - shape: everything else relies on it.
 * - depth and number of fields: both limit the time for compiling and for each validation.
 * - `__proto__`, `prototype`, `constructor` as names: such fields could reach into the objects that hold them.
 * - unknown keywords and formats: a typo would silently disable a rule.
 * - references outside the document: a schema must not change its meaning, and reading it must not make requests.
 * - circular references: validation would not end.
 * - slow regular expressions: one text from a caller could block the process.
 * - `x-` keywords, gates, destination: a mistake would show only once submissions are under way.
 * - steps, hints, translations, published elements: one for a missing field would silently be ignored.
 */
import {
  type AlarmPolicies,
  type ApprovalGate,
  FileRuleSchema,
  type IntakeDefinition,
  IntakeDefinitionSchema,
} from "@formbridge/contract";
import { DEFAULT_ALARMS, responsesProblem, ruleFor, ruleProblem } from "../alarms/alarm.ts";
import { ContractError } from "../error.ts";
import { RESERVED_NAMES } from "../fields/json-values.ts";
import { isAddress } from "../review/address.ts";
import { isBlank } from "../review/blank.ts";
import { mostReviewers } from "../review/reviewers.ts";
import { checkEventTypes } from "../webhooks/check-event-types.ts";
import { ruleProblems } from "./auto-approve.ts";
import { checkDestination, checkEventWebhooks } from "./check-destination.ts";
import { checkPresentation } from "./check-presentation.ts";
import { checkSchema } from "./check-schema.ts";
import { Problems, type ShapeCheck } from "./definition-problems.ts";
import { toFindings } from "./findings.ts";
import type { SchemaNode } from "./schema-nodes.ts";
import { createSchemaValidator } from "./schema-validator.ts";

export interface DefinitionLimits {
  /** Maximum number of properties in the whole schema. */
  maxFields?: number;
}

const MAX_FIELDS = 500;
const MAX_DEPTH = 64;

// Through JSON, because the contract's schemas contain symbols that ajv doesn't know.
const asSchema = (schema: unknown): SchemaNode => JSON.parse(JSON.stringify(schema)) as SchemaNode;
const shape = shapeCheck(asSchema(IntakeDefinitionSchema));
const fileShape = shapeCheck(asSchema(FileRuleSchema));

/** The definition if it is valid; otherwise throws a ContractError that lists every problem with its path. */
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
  checkPresentation(definition, problems);
  checkEventTypes(definition, problems);
  checkAlarms(definition, problems);
  refuseIfAny(problems);
  return definition;
}

function checkAlarms({ alarms = {} }: IntakeDefinition, problems: Problems): void {
  for (const kind of Object.keys(alarms) as (keyof AlarmPolicies)[]) {
    const rule = ruleFor(kind, DEFAULT_ALARMS, alarms);
    const problem = rule && (ruleProblem(kind, rule) ?? responsesProblem(kind, rule.responses));
    if (problem !== undefined) problems.add(["alarms", kind], `takes ${problem}`);
  }
}

function refuseIfAny({ list }: Problems): void {
  if (list.length === 0) return;
  const [first] = list;
  const others = list.length > 1 ? `, and ${list.length - 1} more` : "";
  throw new ContractError("invalid", `The intake definition can't be used: ${first?.message ?? ""}${others}.`, {
    fields: list,
  });
}

/** Valid JSON, not too deep, no reserved names. Without recursion, so that no input can exhaust the stack. */
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
      if (RESERVED_NAMES.has(name)) problems.add([...at, name], "is a reserved name");
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

/**
 * Ids and roles don't have to exist yet: an API key may be created after the gate. Only impossible ones are refused.
 */
function checkReviewers(gate: ApprovalGate, at: readonly string[], problems: Problems): void {
  const { reviewers, escalateAfterMs, requiredApprovals = 1 } = gate;
  const { escalateTo, allowAgents: _agents, ...own } = reviewers;
  if (escalateTo !== undefined && escalateAfterMs === undefined) {
    problems.add([...at, "escalateTo"], "has no effect, because the gate has no escalateAfterMs");
  }
  for (const [group, place] of [[own, at] as const, [escalateTo ?? {}, [...at, "escalateTo"]] as const]) {
    const lists = Object.values(group);
    if (lists.length > 0 && lists.every((list) => list.length === 0)) {
      problems.add(place, "names nobody; leave the lists out to accept every reviewer");
    }
    for (const name of ["ids", "roles"] as const) {
      for (const [index, text] of (group[name] ?? []).entries()) {
        if (isBlank(text)) problems.add([...place, name, String(index)], "is blank, so it names nobody");
      }
    }
    for (const [index, email] of (group.emails ?? []).entries()) {
      if (isAddress(email)) continue;
      problems.add([...place, "emails", String(index)], "isn't an e-mail address", "invalid_format");
    }
  }
  const most = mostReviewers(reviewers);
  if (most > 0 && requiredApprovals > most) {
    const says = `is ${requiredApprovals}, but the gate names only ${most} people who can approve`;
    problems.add([...at.slice(0, -1), "requiredApprovals"], says);
  }
}
