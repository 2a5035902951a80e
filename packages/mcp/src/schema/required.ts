import { isObject } from "@formbridge/core";
import type { Plain } from "./derive.ts";

/**
 * A sentence that lists the required fields. Not as `required` in the schema: a client that validates would refuse
 * partial submissions, which are allowed. Reads the marks of `deriveFields`.
 */
export function requiredInWords(schema: Plain): string {
  const always = listOf(schema["x-required"]).map((name) => withMembers(name, memberOf(schema, name)));
  const sometimes = listOf(schema["x-required-if"]);
  return [
    always.length > 0 && `Required in the end: ${always.join(", ")}.`,
    sometimes.length > 0 && `Depending on other values also: ${sometimes.join(", ")}.`,
  ]
    .filter((part) => part !== false)
    .join(" ");
}

const withMembers = (name: string, member: Plain | undefined): string => {
  const inner = listOf(member?.["x-required"]);
  return inner.length === 0 ? name : `${name} (${inner.join(", ")})`;
};

const memberOf = ({ properties }: Plain, name: string): Plain | undefined =>
  isObject(properties) && isObject(properties[name]) ? (properties[name] as Plain) : undefined;

const listOf = (names: unknown): string[] => (Array.isArray(names) ? names.map(String) : []);
