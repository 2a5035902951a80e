import { type ColumnOf, columnsOf, type Kind, kindOf, type Row, type Table } from "./table.ts";

/** Columns that a statement reads, with the type of their values. */
export interface Selection<Result> {
  readonly selected: string;
  readonly result?: Result;
}

/** The text of a statement. `Result` is the type of its rows, derived from what it selects. */
export interface Sql<Result> {
  readonly text: string;
  readonly result?: Result;
}

type Part = string | number | Table | Selection<object>;
type ResultOf<P> = P extends Selection<infer Result> ? Result : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

export interface Dialect {
  /** Written before the name of a table. */
  schema: string;
  /** The expression that reads a column as the type that `Row` declares. */
  read(kind: Kind, column: string): string;
  /** The reverse: the expression that stores a parameter in such a column. */
  write(kind: Kind, parameter: string): string;
  /** The store's clock, read once per statement. */
  now: string;
  /** Compares a column with the rows that a write has chosen. Skips rows that another transaction has locked, where that can happen. */
  among(select: string): string;
}

type Value = string | number | boolean | null;

/** Prepared once, under its name; one without a name is planned again for the values of each call. */
export interface Statement<Result> extends Sql<Result> {
  name: string;
}

export const statement = <Result>(name: string, { text }: Sql<Result>): Statement<Result> => ({ name, text });

/** Runs statements with numbered parameters, which both databases understand. */
export interface SqlRunner {
  read<Result extends object>(statement: Statement<Result>, values: Value[]): Promise<Result[]>;
  /** The statement must return rows, so that they can be counted. */
  write<Result extends object>(statement: Statement<Result>, values: Value[]): Promise<Result[]>;
}

export type SqlDialect = ReturnType<typeof createSql>;

/** A computed expression. The caller declares its type; the text must name its columns as `Result` does. */
export const computed = <Result extends object>(selected: string): Selection<Result> => ({ selected });

/** Columns of the optional side of a join: all of them may be null. */
export const optional = <Result extends object>({
  selected,
}: Selection<Result>): Selection<{ [Name in keyof Result]: Result[Name] | null }> => ({ selected });

/**
 * Statements in a dialect. `sql` is plain SQL with two kinds of holes: a table, which becomes its name, and a selection, which becomes
 * its columns and gives the result its type.
 *
 *   sql`SELECT ${pick(jobs, "j", "key", "run_at")} FROM ${jobs} AS j WHERE j.tenant = $1`   // Sql<{ key: string; run_at: number }>
 */
export function createSql({ schema, read, write, now, among }: Dialect) {
  /** Columns of a table that the statement calls `alias`; without names, all of them. */
  function pick<T extends Table, Name extends ColumnOf<T> = ColumnOf<T>>(
    table: T,
    alias: string,
    ...names: Name[]
  ): Selection<Pick<Row<T>, Name>> {
    const chosen = names.length === 0 ? columnsOf(table) : names;
    const reads = chosen.map((name) => {
      const column = `${alias}.${name}`;
      const expression = read(kindOf(table, name), column);
      return expression === column ? column : `${expression} AS ${name}`;
    });
    return { selected: reads.join(", ") };
  }

  function sql<Parts extends readonly Part[]>(
    strings: TemplateStringsArray,
    ...parts: Parts
  ): Sql<object & Intersection<ResultOf<Parts[number]>>> {
    const texts = parts.map((part) => {
      if (typeof part !== "object") return String(part);
      return "selected" in part ? part.selected : `${schema}${part.name}`;
    });
    return { text: String.raw({ raw: strings.raw }, ...texts) };
  }

  /** Numbered parameters for these columns, from `$1` or later on. */
  const places = <T extends Table>(table: T, names: readonly ColumnOf<T>[], from = 1): string[] =>
    names.map((name, index) => write(kindOf(table, name), `$${index + from}`));

  return { sql, pick, places, parameter: write, now, among };
}

/** Counts the rows of a tenant, up to a limit. */
export function createCount(
  { sql }: SqlDialect,
  { read }: SqlRunner,
  { table, condition = "true" }: { table: Table; condition?: string },
) {
  const COUNT = statement(
    "",
    sql`SELECT ${computed<{ count: number }>("CAST(count(*) AS integer) AS count")} FROM (
      SELECT 1 FROM ${table} WHERE tenant = $1 AND ${condition} LIMIT $2) AS counted`,
  );
  return async ({ tenant }: { tenant: string }, atMost: number): Promise<number> =>
    (await read(COUNT, [tenant, atMost]))[0]?.count ?? 0;
}
