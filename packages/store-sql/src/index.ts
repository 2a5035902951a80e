export * from "./copy.ts";
export { createBlocks, createIncidents, type SqlRunner } from "./incidents.ts";
export * from "./rows.ts";
export { computed, createSql, type Dialect, optional, type Selection, type Sql } from "./sql.ts";
export {
  type Column,
  type ColumnOf,
  columnsOf,
  fromJson,
  type Json,
  type Kind,
  kindOf,
  type Row,
  type Table,
  toJson,
} from "./table.ts";
export * from "./tables.ts";
export * from "./webhook-rows.ts";
