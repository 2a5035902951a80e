import type { ErrorBody, FieldError, IntakeEvent } from "@formbridge/contract";
import { type FieldNote, type Guide, guideOf } from "../schema/guide.ts";

/** More than this would not help a model to ask for the next value. */
const MAX_NOTES = 10;
const MAX_PATHS = 40;
const MAX_PROBLEMS = 10;
const MAX_FIELDS = 1_500;
const MAX_PAYLOAD = 300;
const MAX_WORDS = 200;

const sizeOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

/** What is missing, in the order of the schema, the next ones in words; and what is not valid. The missing are not told twice. */
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

/** A value that is there to be recognized, not to be kept. */
export function cutValue(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === undefined || text.length <= MAX_WORDS ? value : `${text.slice(0, MAX_WORDS)}…`;
}

/** The first problems and what to do about them; the current values only when they are few. */
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

/** The values, or when they are many or long, which ones there are. */
export function shortFields(fields: unknown): Record<string, unknown> {
  if (typeof fields !== "object" || fields === null) return {};
  return sizeOf(fields) <= MAX_FIELDS ? { fields } : { fieldsSet: Object.keys(fields) };
}

/** Who did what, and when; what proves it, and long payloads, come with `verbose`. */
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
    // A person whose name was erased is nobody.
    actor: actor === null ? null : { kind: actor.kind, id: actor.id },
    state,
    version,
    ...(payload !== undefined && sizeOf(payload) <= MAX_PAYLOAD && { payload }),
  };
}

const cut = (words: unknown): { description?: string } =>
  typeof words === "string" ? { description: words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words } : {};

export const shortIntakeItem = ({ id, version, name, description, access }: Record<string, unknown>) => ({
  id,
  version,
  name,
  ...cut(description),
  access,
});

/** The fields in words, in place of the schema. */
export function shortIntake(intake: Record<string, unknown>): Record<string, unknown> {
  const schema = intake.schema as Record<string, unknown>;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const guide = guideOf(schema);
  const names = Object.keys((schema.properties ?? {}) as object);
  return {
    ...shortIntakeItem(intake),
    fields: names.map((name) => ({ ...guide.describe(name), ...(required.has(name) && { required: true }) })),
  };
}
