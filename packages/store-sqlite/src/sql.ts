/** Statements on the typed tables of `packages/store-sql`, in SQLite's dialect. */
import {
  type ColumnOf,
  createSql,
  kindOf,
  type Row,
  type Sql,
  type SqlRunner,
  type Table,
} from "@formbridge/store-sql";
import type { Database, RunResult, Statement } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { Writer } from "./writer.ts";

export const { sql, pick } = createSql({
  schema: "",
  read: (kind, column) => (kind === "hash" ? `lower(hex(${column}))` : column),
});

type Value = string | number | null;

export const prepare = <Result, Values extends Value[] = Value[]>(
  db: Database,
  { text }: Sql<Result>,
): Statement<Values, Result> => db.prepare<Values, Result>(text);

/** The number of a tenant's rows, counted up to a limit. */
export const prepareCount = (db: Database, table: string, condition = "true"): Statement<[string, number], number> =>
  db
    .prepare<[string, number], number>(
      `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE tenant = ? AND ${condition} LIMIT ?)`,
    )
    .pluck();

/** A value to bind. SQLite has no booleans. */
const bound = (value: unknown): Value => (typeof value === "boolean" ? Number(value) : (value as Value));

const placeholder = (table: Table, name: string): string =>
  kindOf(table, name as never) === "hash" ? "unhex(?)" : "?";

/** `name = ?` for each column. */
export const assign = <T extends Table>(table: T, ...names: ColumnOf<T>[]): string =>
  names.map((name) => `${name} = ${placeholder(table, name)}`).join(", ");

/** The values of these columns, in order. */
export const valuesOf = <Name extends string>(names: readonly Name[], row: { [One in Name]: unknown }): Value[] =>
  names.map((name) => bound(row[name]));

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
  return (row, ...rest) => statement.run(...valuesOf(columns, row), ...rest);
}

/** Runs the statements that both SQL stores share. */
export function createRunner(db: Database, writer: Writer): SqlRunner {
  const all = <Result>({ text }: Sql<Result>, values: Value[]): Result[] =>
    db.prepare<object, Result>(text).all(Object.fromEntries(values.map((value, index) => [index + 1, value])));
  return {
    read: (statement, values) => answer(() => all(statement, values)),
    write: (statement, values) => writer.write(() => all(statement, values)),
  };
}
