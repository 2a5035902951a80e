import { closestNames } from "./closest.ts";
import { type NextCall, ownName, type Refused } from "./next-call.ts";

type Arguments = Record<string, unknown>;

/** Which argument a refusal is about, and what is wrong with it. */
interface Problem {
  name: string;
  is: "unknown" | "missing" | "wrong";
}

/** The same call with the refused argument corrected: renamed, removed or requested. */
export function correctedArguments(refused: Refused): NextCall | undefined {
  const { call, tool } = refused;
  const own = ownName(refused);
  const problem = problemIn(refused);
  if (own === undefined || problem === undefined) return undefined;
  const { name, is } = problem;
  const { [name]: value, ...rest } = call.args as Arguments;
  if (is === "unknown") return { tool: own, ...moved(refused, { name, value, rest }) };
  if (name === "idempotencyKey") {
    const note = "The same key for every retry of this call; at least 32 characters without an API key.";
    return { tool: own, arguments: { ...rest, idempotencyKey: crypto.randomUUID() }, note };
  }
  if (is === "missing" || tool.required.includes(name)) {
    const empty = name === tool.fieldsIn ? { [name]: {} } : {};
    const note = is === "missing" ? `Add ${name}.` : `Send another ${name}.`;
    return { tool: own, arguments: { ...rest, ...empty }, supply: [name], note };
  }
  return { tool: own, arguments: rest, note: `Leave ${name} out, or send another value.` };
}

function problemIn({ body, call, tool }: Refused): Problem | undefined {
  const { reason, message, fields = [] } = body.error;
  const { path = "" } = fields[0] ?? {};
  if (reason === "unknown_argument" && !path.includes(".")) return { name: path, is: "unknown" };
  const isArgument = (name: string): boolean => Object.hasOwn(tool.args.properties, name) || name === "verbose";
  const [name = ""] = path.split(".");
  if (isArgument(name)) return { name, is: call.args[name] === undefined ? "missing" : "wrong" };
  // Operations name the argument only in the error message.
  if (/idempotency key/i.test(message) && isArgument("idempotencyKey")) return { name: "idempotencyKey", is: "wrong" };
  const named = Object.keys(call.args).find((known) => isArgument(known) && new RegExp(`\\b${known}\\b`).test(message));
  return named === undefined ? undefined : { name: named, is: "wrong" };
}

/** For an argument the tool doesn't have: one with a similar name, or a field that belongs in the values. */
function moved(
  { tool, guide }: Refused,
  { name, value, rest }: { name: string; value: unknown; rest: Arguments },
): Pick<NextCall, "arguments" | "note"> {
  const free = Object.keys(tool.args.properties).filter((known) => rest[known] === undefined);
  const [meant] = closestNames(name, free);
  if (meant !== undefined) return { arguments: { ...rest, [meant]: value }, note: `Did you mean ${meant}?` };
  const { fieldsIn } = tool;
  if (fieldsIn === undefined || guide?.knows(name) === false) {
    return { arguments: rest, note: `There is no argument ${name}.` };
  }
  const values = (rest[fieldsIn] ?? {}) as Arguments;
  return {
    arguments: { ...rest, [fieldsIn]: { ...values, [name]: value } },
    note: `Did you mean ${fieldsIn}.${name}?`,
  };
}
