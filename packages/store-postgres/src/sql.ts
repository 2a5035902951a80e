import { computed, createSql, type Sql, type Table } from "@formbridge/store-sql";

export const { sql, pick } = createSql({ schema: "formbridge.", read: (_kind, column) => column });

/** Prepared once on each connection, under its name; one without a name is planned anew for the values of each call. */
export interface Statement<Result> extends Sql<Result> {
  name: string;
}

export const statement = <Result>(name: string, { text }: Sql<Result>): Statement<Result> => ({ name, text });

/** The number of a tenant's rows (`$1`), counted up to `$2`. */
export const countOfTenant = (table: Table, condition = "true") =>
  statement(
    "",
    sql`SELECT ${computed<{ count: number }>("count(*)::int AS count")} FROM (
    SELECT 1 FROM ${table} WHERE tenant = $1 AND ${condition} LIMIT $2) AS counted`,
  );
