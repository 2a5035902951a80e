/** What the server says to the form, as far as the form looks at it. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export interface Actor {
  kind: string;
  id: string;
  name?: string;
}

export interface FieldProblem {
  path: string;
  code: string;
  message: string;
}

export interface FieldHint {
  label?: string;
  help?: string;
  placeholder?: string;
  widget?: string;
  order?: number;
}

export interface Step {
  id: string;
  title: string;
  description?: string;
  fields: string[];
}

/** A submission as its session reads it, with what the intake says about showing it. */
export interface FormRecord {
  submissionId: string;
  intakeId: string;
  state: string;
  version: number;
  fields: JsonObject;
  schema: JsonObject;
  attribution: Record<string, { actor: Actor }>;
  missingFields: string[];
  validationErrors: FieldProblem[];
  rejections?: { reasons: string[] }[];
}

export interface ContractFailure {
  type: string;
  message: string;
  fields?: FieldProblem[];
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const clone = <T>(value: T): T => structuredClone(value);

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Of more digits than this a number keeps not all. */
const KEPT_DIGITS = 15;

/** Commas between thousands, or one for the fraction? Nobody can tell. */
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/;

const isKept = (digits: string, number: number): boolean =>
  Number.isSafeInteger(number) || digits.replaceAll(/[eE].*$|\D/g, "").replace(/^0+/, "").length <= KEPT_DIGITS;

/** The number that was typed; undefined when it is none, may be two, or would be another one once it is kept. */
export function numberIn(typed: string): number | undefined {
  const text = typed.trim();
  if (!/^[+-]?[\d.,]+(?:[eE][+-]?\d+)?$/.test(text) || GROUPED.test(text)) return undefined;
  const number = Number(text.replace(",", "."));
  return Number.isFinite(number) && isKept(text, number) ? number : undefined;
}

/** What was typed as JSON; throws when it is none, or a number in it would be another one once it is kept. */
export const jsonIn = (typed: string): Json =>
  JSON.parse(typed, (_name, value: unknown, context?: { source?: string }) => {
    const { source } = context ?? {};
    if (typeof value === "number" && source !== undefined && !isKept(source, value)) throw new Error("not kept");
    return value;
  }) as Json;
