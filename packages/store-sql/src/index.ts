export * from "./copy.ts";
export { createDeadlines } from "./deadlines.ts";
export { createBlocks, createIncidents } from "./incidents.ts";
export { createIntakeList } from "./intakes.ts";
export { createKeyList } from "./keys.ts";
export { createHandoffs, createReviewLinks } from "./links.ts";
export { type Migration, pendingAmong } from "./migrations.ts";
export * from "./publication-rows.ts";
export * from "./rows.ts";
export { createSecretChecks } from "./secret-checks.ts";
export {
  computed,
  createSql,
  type Dialect,
  optional,
  type Selection,
  type Sql,
  type SqlRunner,
  type Statement,
  statement,
} from "./sql.ts";
export {
  type Column,
  type ColumnOf,
  columnsOf,
  docOf,
  fromJson,
  type Json,
  type Kind,
  kindOf,
  type Row,
  storable,
  type Table,
  toJson,
  valuesOf,
} from "./table.ts";
export * from "./tables.ts";
export { createWebhooks } from "./webhooks.ts";
