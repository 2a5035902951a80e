import { ContractError, isObject, parseJsonBody } from "@formbridge/core";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Tool } from "./tool.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** The default limits for bodies; the enclosing body has passed the operator's own limits. */
const TEXT_LIMITS = { maxDepth: 64, maxKeys: 10_000 };

const compiled = new WeakMap<Tool, { generic?: ValidateFunction; ofIntake?: ValidateFunction }>();

/**
 * Checks the arguments against the contract. Not against the intake's schema: invalid values are stored, and the
 * response reports what is wrong with them.
 */
export function checkArguments(tool: Tool, args: unknown, intakeId: string | undefined): Record<string, unknown> {
  const given = parsed(tool, withoutOwnIntake(args, intakeId));
  const validate = validatorOf(tool, intakeId);
  if (validate(given)) return given as Record<string, unknown>;
  const error = firstProblem(validate, given);
  const { path, words } = problemOf(error);
  const code =
    error?.keyword === "required"
      ? ("required" as const)
      : error?.keyword === "type"
        ? ("invalid_type" as const)
        : ("custom" as const);
  const message = path === "" ? `The arguments ${words}.` : `The argument ${path} ${words}.`;
  throw new ContractError("bad_request", message, {
    ...(error?.keyword === "additionalProperties" && { reason: "unknown_argument" }),
    ...(path !== "" && { fields: [{ path, code, message }] }),
  });
}

/** Reports a misspelt argument rather than the missing one that was meant. */
function firstProblem({ errors = [], schema }: ValidateFunction, given: unknown): Problem | undefined {
  const [first] = errors ?? [];
  const known = (schema as { properties: object }).properties;
  const unknown = isObject(given) ? Object.keys(given).find((name) => !Object.hasOwn(known, name)) : undefined;
  if (unknown === undefined || first?.keyword !== "required" || first.instancePath !== "") return first;
  return { keyword: "additionalProperties", instancePath: "", params: { additionalProperty: unknown } };
}

/** Some models send an object or a list as JSON text. */
function parsed(tool: Tool, args: unknown): unknown {
  if (typeof args !== "object" || args === null) return args;
  const read = Object.entries(args).map(([name, value]) => {
    const { type } = (tool.args.properties[name] ?? {}) as { type?: unknown };
    return [name, type === "object" || type === "array" ? fromText(value) : value];
  });
  return Object.fromEntries(read);
}

/** Text that isn't a JSON object or list stays unchanged, and is refused as such. */
function fromText(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  try {
    return parseJsonBody(Buffer.from(value), TEXT_LIMITS);
  } catch (error) {
    if (error instanceof ContractError) return value;
    throw error;
  }
}

/** Accept the intake id when it is the tool's own. */
function withoutOwnIntake(args: unknown, intakeId: string | undefined): unknown {
  if (intakeId === undefined || typeof args !== "object" || args === null) return args;
  const { intakeId: named, ...rest } = args as Record<string, unknown>;
  return named === intakeId ? rest : args;
}

function validatorOf(tool: Tool, intakeId: string | undefined): ValidateFunction {
  const known = compiled.get(tool) ?? {};
  compiled.set(tool, known);
  if (intakeId === undefined) known.generic ??= ajv.compile(argumentsOf(tool, []));
  else known.ofIntake ??= ajv.compile(argumentsOf(tool, ["intakeId"]));
  return (intakeId === undefined ? known.generic : known.ofIntake) as ValidateFunction;
}

/** Checked by the operation itself, which has the better message. */
const ASKED_FOR_LATER = ["idempotencyKey"];

function argumentsOf({ args, required }: Tool, without: readonly string[]) {
  const properties = Object.entries(args.properties).filter(([name]) => !without.includes(name));
  const needed = required.filter((name) => !without.includes(name) && !ASKED_FOR_LATER.includes(name));
  return {
    type: "object",
    properties: { ...Object.fromEntries(properties), verbose: { type: "boolean" } },
    required: needed,
    additionalProperties: false,
  };
}

type Problem = Pick<ErrorObject, "keyword" | "instancePath" | "params" | "message">;

function problemOf(error: Problem | undefined): { path: string; words: string } {
  const place = (error?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const at = (name: unknown) =>
    [place, String(name)]
      .filter((part) => part !== "")
      .join(".")
      .slice(0, 200);
  if (error?.keyword === "required") return { path: at(error.params.missingProperty), words: "is missing" };
  if (error?.keyword === "additionalProperties")
    return { path: at(error.params.additionalProperty), words: "is not known here" };
  if (error?.keyword === "enum")
    return { path: place, words: `must be one of ${(error.params.allowedValues as unknown[]).join(", ")}` };
  return { path: place, words: error?.message ?? "do not fit" };
}
