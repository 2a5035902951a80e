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
