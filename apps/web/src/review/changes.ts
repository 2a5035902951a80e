import type { IntakeEvent, SubmissionRecord } from "@formbridge/contract";

type Rejection = NonNullable<SubmissionRecord["rejections"]>[number];
type Author = NonNullable<SubmissionRecord["attribution"]>[string];

/** What happened since the last rejection. */
export interface Changes {
  rejection: Rejection;
  /** By path: the value at the rejection, if the history has it. */
  before: ReadonlyMap<string, unknown>;
  /** Paths that had a value then, and have none now. */
  removed: readonly string[];
  isChanged(path: string): boolean;
}

const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`);

/** Who set a value: at its place, around it, or last inside it. */
export function authorOf({ attribution = {} }: SubmissionRecord, path: string): Author | undefined {
  const names = path.split(".");
  for (let length = names.length; length > 0; length--) {
    const found = attribution[names.slice(0, length).join(".")];
    if (found !== undefined) return found;
  }
  return Object.entries(attribution)
    .filter(([inner]) => isWithin(inner, path))
    .map(([, author]) => author)
    .toSorted((one, other) => other.version - one.version)[0];
}

/** Undefined: it was never rejected. */
export function changesSince(record: SubmissionRecord, events: readonly IntakeEvent[]): Changes | undefined {
  const rejection = record.rejections?.at(-1);
  if (rejection === undefined) return undefined;
  const end = events.findLastIndex(({ type }) => type === "review.rejected");
  const then = valuesAfter(events.slice(0, end === -1 ? events.length : end));
  const now = valuesAfter(events);
  const removed = [...then.keys()].filter((path) => ![...now.keys()].some((other) => isWithin(other, path)));
  return {
    rejection,
    before: then,
    removed,
    isChanged: (path) => (authorOf(record, path)?.version ?? 0) > rejection.version,
  };
}

/** The values that the history leads to, by path. Sensitive ones are masked there. */
function valuesAfter(events: readonly IntakeEvent[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const forget = (path: string): void => {
    for (const known of [...values.keys()]) if (isWithin(known, path)) values.delete(known);
  };
  for (const { type, payload } of events) {
    if (payload === null) continue;
    if (type === "field.updated") {
      const { fields = {}, removed = [] } = payload as { fields?: Record<string, unknown>; removed?: string[] };
      for (const path of [...removed, ...Object.keys(fields)]) forget(path);
      for (const [path, value] of Object.entries(fields)) values.set(path, value);
    } else if (type === "upload.completed") {
      const { field, filename } = payload as { field: string; filename: string };
      values.set(field, { filename });
    }
  }
  return values;
}
