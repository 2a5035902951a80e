/** Statements on the typed tables of `packages/store-sql`, in SQLite's dialect. */
import type { Instant } from "@formbridge/core";
import {
  type ColumnOf,
  createSql,
  type Kind,
  kindOf,
  type Row,
  type Sql,
  type SqlRunner,
  type Table,
  valuesOf,
} from "@formbridge/store-sql";
import type { Database, RunResult, Statement } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { Writer } from "./writer.ts";

const stored = (kind: Kind, parameter: string): string => (kind === "hash" ? `unhex(${parameter})` : parameter);

export const dialect = createSql({
  schema: "",
  read: (kind, column) => (kind === "hash" ? `lower(hex(${column}))` : column),
  write: stored,
  // A function of ours, see `createRunner`.
  now: "(SELECT now_ms())",
  among: (select) => `IN (${select})`,
});

export const { sql, pick } = dialect;

type Value = string | number | null;

export const prepare = <Result, Values extends Value[] = Value[]>(
  db: Database,
  { text }: Sql<Result>,
): Statement<Values, Result> => db.prepare<Values, Result>(text);

/** A value to bind. SQLite has no booleans. */
const bound = (value: unknown): Value => (typeof value === "boolean" ? Number(value) : (value as Value));

const placeholder = (table: Table, name: string): string => stored(kindOf(table, name as never), "?");

/** `name = ?` for each column. */
export const assign = <T extends Table>(table: T, ...names: ColumnOf<T>[]): string =>
  names.map((name) => `${name} = ${placeholder(table, name)}`).join(", ");

/** The values of these columns, in order, to be bound. */
export const boundValues = <Name extends string>(names: readonly Name[], row: Record<Name, unknown>): Value[] =>
  valuesOf(names, row).map(bound);

interface InsertOptions<Name> {
  columns: readonly Name[];
  /** Columns that only this store has. */
  own?: readonly string[];
  /** For example `INSERT OR IGNORE`. */
  verb?: string;
  conflict?: string;
}

/** An INSERT of typed rows; the values of `own` columns come after the row. */
export function prepareInsert<T extends Table, Name extends ColumnOf<T>>(
  db: Database,
  table: T,
  { columns, own = [], verb = "INSERT", conflict = "" }: InsertOptions<Name>,
): (row: Pick<Row<T>, Name>, ...own: number[]) => RunResult {
  const places = [...columns.map((name) => placeholder(table, name)), ...own.map(() => "?")];
  const statement = db.prepare<Value[]>(
    `${verb} INTO ${table.name} (${[...columns, ...own].join(", ")}) VALUES (${places.join(", ")}) ${conflict}`,
  );
  return (row, ...rest) => statement.run(...boundValues(columns, row), ...rest);
}

interface RunnerOptions {
  now: () => Instant;
  writer: Writer;
}

/** Runs the statements that both SQL stores share. */
export function createRunner(db: Database, { now, writer }: RunnerOptions): SqlRunner {
  db.function("now_ms", { directOnly: true }, now);
  const prepared = new Map<string, Statement<[object]>>();
  function all<Result>({ text }: Sql<Result>, values: unknown[]): Result[] {
    const known = prepared.get(text) ?? db.prepare<[object]>(text);
    prepared.set(text, known);
    return known.all(Object.fromEntries(values.map((value, index) => [index + 1, bound(value)]))) as Result[];
  }
  return {
    read: (statement, values) => answer(() => all(statement, values)),
    write: (statement, values) => writer.write(() => all(statement, values)),
  };
}
