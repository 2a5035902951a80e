import type { ApprovalGate, Json } from "@formbridge/contract";
import { defaultMethods, LogicEngine } from "json-logic-engine";
import { RULE_READS } from "./rule-reads.ts";
import { isObject } from "./schema-nodes.ts";

/** JSON Logic's own operators and a few pure ones; none that throws on purpose, keeps state, or creates functions. */
const OPERATORS = [
  ...["var", "val", "exists", "missing", "missing_some"],
  ...["if", "?:", "==", "===", "!=", "!==", "!", "!!", "or", "and", "??"],
  ...[">", ">=", "<", "<=", "max", "min", "+", "-", "*", "/", "%"],
  ...["map", "reduce", "filter", "all", "none", "some", "merge", "in", "cat", "substr", "length"],
];
const KNOWN: ReadonlySet<string> = new Set(OPERATORS);
const ITERATORS: ReadonlySet<string> = new Set(["map", "reduce", "filter", "all", "none", "some"]);

const MAX_OPERATORS = 500;
const MAX_DEPTH = 32;

/** Interpreted, never compiled: no JavaScript is generated from a definition. */
const methods = { ...defaultMethods, ...RULE_READS };
const engine = new LogicEngine(Object.fromEntries(Object.entries(methods).filter(([name]) => KNOWN.has(name))), {
  disableInline: true,
  disableInterpretedOptimization: true,
  permissive: false,
  maxDepth: MAX_DEPTH,
  maxArrayLength: 10_000,
  maxStringLength: 1 << 16,
});

/**
 * Only `true` approves: a rule that fails, reads something absent, or returns anything else leaves the decision to a
 * person.
 */
export function autoApproves(gate: ApprovalGate | undefined, data: Json): boolean {
  if (gate?.autoApproveIf === undefined) return false;
  try {
    return engine.run(gate.autoApproveIf, data) === true;
  } catch {
    return false;
  }
}

export interface RuleProblem {
  at: readonly string[];
  message: string;
}

/** Why a value isn't a rule that we can run within limits. */
export function ruleProblems(rule: unknown): RuleProblem[] {
  const problems: RuleProblem[] = [];
  let operators = 0;
  const visit = (value: unknown, at: readonly string[], looping: boolean): void => {
    if (at.length > MAX_DEPTH * 2) {
      problems.push({ at: [], message: `is nested deeper than ${MAX_DEPTH} operators` });
      return;
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...at, String(index)], looping);
      return;
    }
    if (!isObject(value)) return;
    operators++;
    const [name, ...more] = Object.keys(value);
    if (name === undefined || more.length > 0) problems.push({ at, message: "must have exactly one operator" });
    else if (!KNOWN.has(name)) problems.push({ at: [...at, name], message: `is not an operator: ${name}` });
    else if (!ITERATORS.has(name)) visit(value[name], [...at, name], looping);
    // The caller chooses the array's length, so nested loops could block the process for minutes.
    else if (looping) problems.push({ at: [...at, name], message: "is a loop inside a loop" });
    else {
      const [over, ...body] = [value[name]].flat();
      visit(over, [...at, name, "0"], false);
      for (const [index, part] of body.entries()) visit(part, [...at, name, String(index + 1)], true);
    }
  };
  visit(rule, [], false);
  if (operators > MAX_OPERATORS) problems.push({ at: [], message: `has more than ${MAX_OPERATORS} operators` });
  return problems;
}
