import { ContractError } from "@formbridge/core";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Tool } from "./tool.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const compiled = new WeakMap<Tool, { generic?: ValidateFunction; ofIntake?: ValidateFunction }>();

/**
 * Checks the arguments by the contract. Not by the intake's schema: values that are not valid yet are kept, and what is wrong with
 * them is told by the answer.
 */
export function checkArguments(tool: Tool, args: unknown, intakeId: string | undefined): Record<string, unknown> {
  const given = withoutOwnIntake(args, intakeId);
  const validate = validatorOf(tool, intakeId);
  if (validate(given)) return given as Record<string, unknown>;
  const [error] = validate.errors ?? [];
  const { path, words } = problemOf(error);
  const code =
    error?.keyword === "required"
      ? ("required" as const)
      : error?.keyword === "type"
        ? ("invalid_type" as const)
        : ("custom" as const);
  const message = path === "" ? `The arguments ${words}.` : `The argument ${path} ${words}.`;
  throw new ContractError("bad_request", message, { ...(path !== "" && { fields: [{ path, code, message }] }) });
}

/** Naming the intake that the tool belongs to is no mistake. */
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

/** What the operation itself asks for, in its own words. */
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

function problemOf(error: ErrorObject | undefined): { path: string; words: string } {
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
