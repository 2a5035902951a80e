import { ErrorBodySchema } from "@formbridge/contract";
import type { TObject } from "typebox";
import type { Plain } from "../schema/derive.ts";

export type OutputSchema = { type: "object" } & Plain;

/** What this binding adds to a response that has the property on the left. */
export const ADDED: Readonly<Record<string, Record<string, Plain>>> = {
  missingFields: { missingCount: { type: "integer" }, toFill: { type: "array" } },
  attribution: { fieldsSet: { type: "array" }, reissued: { type: "boolean" }, message: { type: "string" } },
};

/** Only an outline, because every tool repeats it; the reference describes errors in full. */
const ERROR = { type: "object", required: ["type", "message", "retryable"] };

const outputs = new WeakMap<TObject, OutputSchema>();

/**
 * The contract's response or its error, as one plain object; short responses omit parts. Kept brief because every
 * intake repeats it.
 */
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

/** Only the type: hosts validate results against it, and models don't read it. */
const outline = (schema: unknown): Plain => ({ type: (schema as Plain).type ?? "string" });
