/*
 * How a gate's rule reads its data. JSON Logic reads absent values as null, and null < 100 is true, so a rule would
 * approve what was left out. Here, reading an absent or null value fails the rule, unless the rule gives `var` a
 * default. Only own members are read, so that `__proto__` and `constructor` are harmless.
 */
import { defaultMethods } from "json-logic-engine";

type Read = (args: readonly unknown[], context: unknown, above: unknown[], engine: unknown) => unknown;

const { var: originalVar, val: originalVal } = defaultMethods as unknown as Record<"var" | "val", { method: Read }>;

class AbsentValue extends Error {}

function memberOf(value: unknown, name: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, String(name))) return undefined;
  return (value as Record<string, unknown>)[String(name)];
}

const follow = (from: unknown, path: readonly unknown[]): unknown => path.reduce(memberOf, from);

/** `a\.b` is the single name `a.b`. */
const namesIn = (path: string): string[] =>
  [...path.matchAll(/(?:\\[\\./]|[^.])+|(?<=^|\.)(?=\.|$)/g)].map(([name]) => name.replaceAll(/\\([\\./])/g, "$1"));

function found(value: unknown): unknown {
  if (value === undefined || value === null) throw new AbsentValue("the rule reads a value that is absent");
  return value;
}

/** `{ "var": path }` or `{ "var": [path, default] }`. `../` leaves a loop's scope, by the library's own rules. */
const readVar: Read = (args, context, above, engine) => {
  const path = String(args[0] ?? "");
  const climb = /^(?:\.\.\/)*/.exec(path)?.[0] ?? "";
  const scope = originalVar.method([climb], context, above, engine);
  const rest = path.slice(climb.length);
  const value = rest === "" ? scope : follow(scope, namesIn(rest));
  return args.length > 1 ? (value ?? args[1]) : found(value);
};

const readVal: Read = (args, context, above, engine) => {
  const [first, ...rest] = args;
  if (!Array.isArray(first)) return follow(context, args);
  return follow(originalVal.method([first], context, above, engine), rest);
};

const missing = (names: readonly unknown[], context: unknown): unknown[] =>
  names.filter((name) => (follow(context, namesIn(String(name))) ?? null) === null);

/** The reading operators, replacing the library's own. */
export const RULE_READS = {
  var: { method: readVar },
  val: { method: (...call: Parameters<Read>) => found(readVal(...call)) },
  exists: { method: (...call: Parameters<Read>) => (readVal(...call) ?? null) !== null },
  missing: { method: (names: readonly unknown[], context: unknown) => missing(names.flat(), context) },
  missing_some: {
    method: ([atLeast, names]: readonly [number, readonly unknown[]], context: unknown) => {
      const absent = missing(names, context);
      return names.length - absent.length >= atLeast ? [] : absent;
    },
  },
};
