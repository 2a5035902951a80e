import type { Deadlines, Instant } from "@formbridge/core";
import { dueOf, submissions } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepare, sql } from "./sql.ts";

const DUE = pick(submissions, "s", "tenant", "submission_id");

export function createDeadlines(db: Database, now: () => Instant): Deadlines {
  const expired = prepare(
    db,
    sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.editable = 1 AND s.expires_at < ? ORDER BY s.expires_at LIMIT ?`,
  );
  const warnable = prepare(
    db,
    sql`SELECT ${DUE} FROM ${submissions} AS s WHERE s.warn_at < ? ORDER BY s.warn_at LIMIT ?`,
  );
  return {
    now: async () => now(),
    expired: (before, limit) => answer(() => expired.all(before, limit).map(dueOf)),
    warnable: (before, limit) => answer(() => warnable.all(before, limit).map(dueOf)),
  };
}
