import type { Deadlines } from "@formbridge/core";
import { dueOf } from "./rows.ts";
import { type SqlDialect, type SqlRunner, statement } from "./sql.ts";
import { submissions } from "./tables.ts";

export function createDeadlines({ sql, pick }: SqlDialect, { read }: SqlRunner, now: Deadlines["now"]): Deadlines {
  const DUE = pick(submissions, "s", "tenant", "submission_id");
  const EXPIRED = statement(
    "expired",
    sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.editable AND s.expires_at < $1 ORDER BY s.expires_at LIMIT $2`,
  );
  const WARNABLE = statement(
    "warnable",
    sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.warn_at IS NOT NULL AND s.warn_at < $1 ORDER BY s.warn_at LIMIT $2`,
  );
  return {
    now,
    expired: async (before, limit) => (await read(EXPIRED, [before, limit])).map(dueOf),
    warnable: async (before, limit) => (await read(WARNABLE, [before, limit])).map(dueOf),
  };
}
