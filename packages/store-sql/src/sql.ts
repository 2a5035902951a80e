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
}

/** A computed expression. The caller declares its type; the text must name its columns as `Result` does. */
export const computed = <Result extends object>(selected: string): Selection<Result> => ({ selected });

/** Columns of the optional side of a join: all of them may be null. */
export const optional = <Result extends object>({
  selected,
}: Selection<Result>): Selection<{ [Name in keyof Result]: Result[Name] | null }> => ({ selected });

/**
 * Statements in a dialect. `sql` is plain SQL with two kinds of holes: a table, which becomes its name, and a selection, which becomes
 * its columns and gives the answer its type.
 *
 *   sql`SELECT ${pick(jobs, "j", "key", "run_at")} FROM ${jobs} AS j WHERE j.tenant = $1`   // Sql<{ key: string; run_at: number }>
 */
export function createSql({ schema, read }: Dialect) {
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

  return { sql, pick };
}
