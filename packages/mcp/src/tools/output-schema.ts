import { ErrorBodySchema } from "@formbridge/contract";
import { isObject } from "@formbridge/core";
import type { TObject } from "typebox";
import type { Plain } from "../schema/derive.ts";

export type OutputSchema = { type: "object" } & Plain;

const words = { type: "array", items: { type: "string" } };

/** What this binding adds to an answer of the contract that has the member on the left. */
const ADDED: Readonly<Record<string, Record<string, Plain>>> = {
  missingFields: {
    missingCount: { type: "integer", description: "How many are missing, when not all are named." },
    toFill: {
      type: "array",
      items: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      description: "The next missing fields in words, in the order of the form.",
    },
  },
  attribution: { fieldsSet: { ...words, description: "Which fields have values; verbose shows them." } },
};

/** The parts of an error that a model acts on; it may have more. */
const ERROR = {
  type: "object",
  properties: {
    type: { type: "string" },
    message: { type: "string" },
    retryable: { type: "boolean" },
    fields: { type: "array" },
    nextActions: { type: "array" },
    proposal: {
      type: "object",
      description: "The call that would succeed now.",
      properties: { tool: { type: "string" }, arguments: { type: "object" } },
    },
  },
  required: ["type", "message", "retryable"],
};

const outputs = new WeakMap<TObject, OutputSchema>();

/** The contract's answer or its error, in one plain object; a short answer leaves parts out. Brief: every intake repeats it. */
export function outputOf(response: TObject): OutputSchema {
  const known = outputs.get(response);
  if (known !== undefined) return known;
  const failure = outlines(ErrorBodySchema);
  const success = outlines(response);
  const added = Object.entries(ADDED).flatMap(([name, more]) => (name in success ? Object.entries(more) : []));
  const properties = { ...failure, ...success, ...Object.fromEntries(added), ok: { type: "boolean" }, error: ERROR };
  const made: OutputSchema = { type: "object", properties, required: ["ok"], additionalProperties: false };
  outputs.set(response, made);
  return made;
}

const outlines = ({ properties }: TObject): Record<string, Plain> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, outline(schema)]));

function outline(schema: unknown): Plain {
  const { type, enum: values, items } = schema as Plain;
  const isOfStrings = isObject(items) && items.type === "string";
  return {
    type: type ?? "string",
    ...(values !== undefined && { enum: values }),
    ...(isOfStrings && { items: { type: "string" } }),
  };
}
