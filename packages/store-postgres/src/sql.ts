import { createSql } from "@formbridge/store-sql";

export { type Statement, statement } from "@formbridge/store-sql";

/** PostgreSQL's dialect, for the statements here and for those that both SQL stores share. */
export const dialect = createSql({
  schema: "formbridge.",
  read: (_kind, column) => column,
  write: (_kind, parameter) => parameter,
  now: "(SELECT formbridge.now_ms())",
  // As an array, so that the rows are found by their key, and the limit holds.
  among: (select) => `= ANY (ARRAY(${select} FOR UPDATE SKIP LOCKED))`,
});

export const { sql, pick } = dialect;
