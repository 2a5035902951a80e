import { isObject } from "@formbridge/core";
import type { Plain } from "./derive.ts";
import { namesIn } from "./guide.ts";

/**
 * A sentence that lists the required fields. Not as `required` in the schema: a client that validates would refuse
 * partial submissions, which are allowed. Reads the marks of `deriveFields`.
 */
export function requiredInWords(schema: Plain): string {
  const always = namesIn(schema["x-required"]).map((name) => withMembers(name, memberOf(schema, name)));
  const sometimes = namesIn(schema["x-required-if"]);
  return [
    always.length > 0 && `Required in the end: ${always.join(", ")}.`,
    sometimes.length > 0 && `Depending on other values also: ${sometimes.join(", ")}.`,
  ]
    .filter((part) => part !== false)
    .join(" ");
}

const withMembers = (name: string, member: Plain | undefined): string => {
  const inner = namesIn(member?.["x-required"]);
  return inner.length === 0 ? name : `${name} (${inner.join(", ")})`;
};

const memberOf = ({ properties }: Plain, name: string): Plain | undefined =>
  isObject(properties) && isObject(properties[name]) ? (properties[name] as Plain) : undefined;
