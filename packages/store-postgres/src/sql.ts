import { createSql, type Sql } from "@formbridge/store-sql";

export const { sql, pick } = createSql({ schema: "formbridge.", read: (_kind, column) => column });

/** Prepared once on each connection, under its name. */
export interface Statement<Result> extends Sql<Result> {
  name: string;
}

export const statement = <Result>(name: string, { text }: Sql<Result>): Statement<Result> => ({ name, text });
