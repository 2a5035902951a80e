import type { Deadlines, Due, Instant } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

export function createDeadlines(db: Database, now: () => Instant): Deadlines {
  const expired = db.prepare<[number, number], Due>(
    `SELECT tenant, submission_id AS submissionId FROM submissions
     WHERE editable = 1 AND expires_at < ? ORDER BY expires_at LIMIT ?`,
  );
  const warnable = db.prepare<[number, number], Due>(
    `SELECT tenant, submission_id AS submissionId FROM submissions
     WHERE warn_at < ? ORDER BY warn_at LIMIT ?`,
  );
  return {
    now: async () => now(),
    expired: (before, limit) => answer(() => expired.all(before, limit)),
    warnable: (before, limit) => answer(() => warnable.all(before, limit)),
  };
}
