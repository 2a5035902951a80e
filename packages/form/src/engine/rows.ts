import { isEqual, pruned } from "./changes.ts";

/** A list item as shown. Its key stays when it moves. An empty row isn't stored yet. */
export interface Row {
  key: number;
  value: unknown;
}

const isEmpty = ({ value }: Row): boolean => pruned(value) === undefined;

/** The stored values: every row that isn't empty. */
export const valuesOf = (rows: readonly Row[]): unknown[] =>
  rows.filter((row) => !isEmpty(row)).map(({ value }) => value);

/** Positions matter in a tuple: a skipped one is stored as null. */
export function tupleOf(rows: readonly Row[]): unknown[] {
  const last = rows.findLastIndex((row) => !isEmpty(row));
  return rows.slice(0, last + 1).map((row) => (isEmpty(row) ? null : row.value));
}

/** The stored index of each row; empty rows count as if they came last. */
export function storedIndexes(rows: readonly Row[]): number[] {
  const stored = rows.filter((row) => !isEmpty(row)).length;
  let full = 0;
  let empty = stored;
  return rows.map((row) => (isEmpty(row) ? empty++ : full++));
}

interface Rows {
  rows: readonly Row[];
  /** `valuesOf` or `tupleOf`. */
  read(rows: readonly Row[]): unknown[];
  newKey(): number;
}

/**
 * The rows for what is stored now. They stay as they are while they say the same; otherwise each value keeps the row it
 * had, so that a list that somebody else changed does not move the focus, and empty rows stay at the end.
 */
export function rowsFor(stored: readonly unknown[], { rows, read, newKey }: Rows): readonly Row[] {
  if (isEqual(read(rows), stored)) return rows;
  const left = [...rows];
  const take = (fits: (row: Row) => boolean): Row | undefined => {
    const at = left.findIndex(fits);
    return at === -1 ? undefined : left.splice(at, 1)[0];
  };
  const same = stored.map((value) => take((row) => isEqual(row.value, value)));
  const full = rows.filter((row) => !isEmpty(row));
  const next = stored.map((value, index) => {
    const known = same[index] ?? take((row) => row === full[index]);
    return known === undefined ? { key: newKey(), value } : { key: known.key, value };
  });
  return [...next, ...left.filter(isEmpty)];
}

export function moved(rows: readonly Row[], from: number, to: number): Row[] {
  const next = [...rows];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
