import type { Deadlines } from "@formbridge/core";
import { dueOf, submissions } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { databaseNow } from "./health.ts";
import { pick, sql, statement } from "./sql.ts";

const DUE = pick(submissions, "s", "tenant", "submission_id");
const EXPIRED = statement(
  "expired",
  sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.editable AND s.expires_at < $1 ORDER BY s.expires_at LIMIT $2`,
);
const WARNABLE = statement(
  "warnable",
  sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.warn_at IS NOT NULL AND s.warn_at < $1 ORDER BY s.warn_at LIMIT $2`,
);

export function createDeadlines(db: Database): Deadlines {
  return {
    now: () => databaseNow(db),
    expired: async (before, limit) => (await db.read(EXPIRED, [before, limit])).map(dueOf),
    warnable: async (before, limit) => (await db.read(WARNABLE, [before, limit])).map(dueOf),
  };
}
