import { ContractError, isObject, schemaViewOf } from "@formbridge/core";
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import type { Reply } from "./host-side.ts";

type Schema = Record<string, unknown>;
type Asked = ElicitRequestFormParams["requestedSchema"];
type Plain = Asked["properties"][string];

/** The question as an elicitation schema. Throws for a sensitive field, or one that such a form can't show. */
export function questionFor(schema: Schema, names: readonly string[]): Asked {
  const properties: Record<string, Plain> = {};
  for (const name of names) {
    const own = isObject(schema.properties) ? schema.properties[name] : undefined;
    const plain = isObject(own) && Object.hasOwn(schema.properties as object, name) ? plainOf(own) : undefined;
    if (plain === undefined) throw unfit(name, "is not a text, number, yes/no or choice field at the top level");
    // Read from the same view that seals values and refuses agents, because a reference, a condition or the root may
    // mark a field too.
    const { sensitive, fill, file } = schemaViewOf(schema).ruleAt([name]);
    if (sensitive) throw unfit(name, "is sensitive");
    if (fill === "human") throw unfit(name, "can only be set by an identified human");
    if (fill === "agent") throw unfit(name, "can only be set by an agent");
    if (file !== undefined) throw unfit(name, "is a file");
    properties[name] = plain;
  }
  return { type: "object", properties };
}

const unfit = (name: string, why: string): ContractError =>
  new ContractError("bad_request", `ask: ${name} ${why}, so the host can't ask for it. Leave it out of ask.`, {
    fields: [{ path: "ask", code: "invalid_value", message: `${name} ${why}.` }],
  });

const FORMATS = new Set(["email", "uri", "date", "date-time"]);
const COMPLEX = ["$ref", "$dynamicRef", "allOf", "anyOf", "not", "if", "properties", "items"];

/** The flat schemas that elicitation supports; undefined for everything else. */
function plainOf(schema: Schema): Plain | undefined {
  if (COMPLEX.some((key) => schema[key] !== undefined)) return undefined;
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => type !== "null");
  const [type] = types;
  const words = pick(schema, ["title", "description"]);
  const choices = Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : undefined;
  if (types.length !== 1 || schema.oneOf !== undefined || schema.const !== undefined) return undefined;
  if (choices !== undefined) {
    return choices.every((value) => typeof value === "string")
      ? { type: "string", ...words, enum: choices }
      : undefined;
  }
  if (type === "boolean") return { type, ...words };
  if (type === "number" || type === "integer") return { type, ...words, ...pick(schema, ["minimum", "maximum"]) };
  if (type !== "string") return undefined;
  const format = typeof schema.format === "string" && FORMATS.has(schema.format) ? { format: schema.format } : {};
  return { type, ...words, ...pick(schema, ["minLength", "maxLength"]), ...format } as Plain;
}

const pick = (schema: Schema, names: readonly string[]): Record<string, never> =>
  Object.fromEntries(
    names.filter((name) => ["string", "number"].includes(typeof schema[name])).map((name) => [name, schema[name]]),
  ) as Record<string, never>;

/** The values given. If any of them wasn't asked for or isn't a plain value, nothing is accepted. */
export function answersOf({ content = {} }: Reply, { properties }: Asked): Record<string, unknown> {
  for (const [name, value] of Object.entries(content)) {
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    if (!Object.hasOwn(properties, name) || !isPlain) {
      throw new ContractError("bad_request", "The host's reply doesn't match what was asked for. Nothing was set.");
    }
  }
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== ""));
}
