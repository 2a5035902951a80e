import { isObject } from "@formbridge/core";
import type { Plain } from "./derive.ts";

interface FieldHint {
  help?: string;
  placeholder?: string;
  example?: unknown;
}

/** Shows an intake's hints for people to models too: help as descriptions, placeholders as examples. */
export function withHints(schema: Plain, hints: Readonly<Record<string, FieldHint>>): Plain {
  return Object.entries(hints).reduce((changed, [path, hint]) => hinted(changed, path.split("."), hint), schema);
}

function hinted(schema: Plain, [name = "", ...rest]: readonly string[], hint: FieldHint): Plain {
  const { properties, items } = schema;
  if (/^\d+$/.test(name) && isObject(items)) return { ...schema, items: below(items as Plain, rest, hint) };
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return schema;
  return { ...schema, properties: { ...properties, [name]: below(properties[name] as Plain, rest, hint) } };
}

const below = (member: Plain, rest: readonly string[], hint: FieldHint): Plain =>
  rest.length === 0 ? explained(member, hint) : hinted(member, rest, hint);

function explained(member: Plain, { help, placeholder, example = placeholder }: FieldHint): Plain {
  const words = [member.description, help].filter((part) => typeof part === "string");
  const isFile = member["x-file"] !== undefined;
  return {
    ...member,
    ...(words.length > 0 && { description: words.join(" ") }),
    ...(example !== undefined && member.examples === undefined && !isFile && { examples: [example] }),
  };
}
