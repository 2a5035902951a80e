import type { ErrorBody, FieldError, IntakeEvent } from "@formbridge/contract";
import { cut, type FieldNote, type Guide, guideOf } from "../schema/guide.ts";

/** More wouldn't help a model to ask for the next value. */
const MAX_NOTES = 10;
const MAX_PATHS = 40;
const MAX_PROBLEMS = 10;
const MAX_FIELDS = 1_500;
const MAX_PAYLOAD = 300;

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/**
 * Lists what is missing in schema order, with notes on the next few, and what is invalid. Missing fields are not listed
 * twice.
 */
export function explain(body: Record<string, unknown>, guide: Guide | undefined): Record<string, unknown> {
  const { missingFields, validationErrors } = body as { missingFields?: string[]; validationErrors?: FieldError[] };
  if (missingFields === undefined) return {};
  const ordered = guide?.order(missingFields) ?? missingFields;
  const missing = new Set(ordered);
  const notes = ordered.slice(0, MAX_NOTES).map((path): FieldNote => guide?.describe(path) ?? { path });
  return {
    missingFields: ordered.slice(0, MAX_PATHS),
    ...(ordered.length > MAX_PATHS && { missingCount: ordered.length }),
    ...(notes.length > 0 && { toFill: notes }),
    validationErrors: shortProblems((validationErrors ?? []).filter(({ path }) => !missing.has(path))),
  };
}

const shortProblems = (problems: readonly FieldError[]): FieldError[] =>
  problems.slice(0, MAX_PROBLEMS).map(({ received, ...problem }) => ({
    ...problem,
    ...(received !== undefined && { received: cutValue(received) }),
  }));

/** Shortens a value that only has to be recognized. */
export function cutValue(value: unknown): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const short = cut(text);
  return short === text ? value : short;
}

/** The first problems and what to do about them, and the current values if there are few. */
export function shortError({ error, ...body }: ErrorBody): ErrorBody {
  const { fields, nextActions, current, ...rest } = error;
  return {
    ...body,
    error: {
      ...rest,
      ...(fields && { fields: shortProblems(fields) }),
      ...(nextActions && { nextActions: nextActions.slice(0, MAX_PROBLEMS) }),
      ...(current && { current: { ...current, fields: sizeOf(current.fields) <= MAX_FIELDS ? current.fields : {} } }),
    },
  };
}

export const shortPaths = ({ updatedFields }: Record<string, unknown>): Record<string, unknown> =>
  Array.isArray(updatedFields) ? { updatedFields: updatedFields.slice(0, MAX_PATHS) } : {};

/** The values, or only their names if they are many or long. */
export function shortFields(fields: unknown): Record<string, unknown> {
  if (typeof fields !== "object" || fields === null) return {};
  return sizeOf(fields) <= MAX_FIELDS ? { fields } : { fieldsSet: Object.keys(fields) };
}

/** Who did what, and when. Hashes and long payloads come with `verbose`. */
export function shortEvent({
  eventId,
  type,
  ts,
  actor,
  state,
  version,
  payload,
}: IntakeEvent): Record<string, unknown> {
  return {
    eventId,
    type,
    ts,
    // The actor's name may have been erased.
    actor: actor === null ? null : { kind: actor.kind, id: actor.id },
    state,
    version,
    ...(payload !== undefined && sizeOf(payload) <= MAX_PAYLOAD && { payload }),
  };
}

export const shortIntakeItem = ({ id, version, name, description, access }: Record<string, unknown>) => ({
  id,
  version,
  name,
  ...(typeof description === "string" && { description: cut(description) }),
  access,
});

/** An outline of the fields instead of the schema: nested, and with what is required. */
export const shortIntake = (intake: Record<string, unknown>): Record<string, unknown> => ({
  ...shortIntakeItem(intake),
  fields: guideOf(intake.schema as Record<string, unknown>).outline(),
});
