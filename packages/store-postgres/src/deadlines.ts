import type { Deadlines, Due } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import { databaseNow } from "./health.ts";

const EXPIRED: Statement = {
  name: "expired",
  text: `SELECT tenant, submission_id AS "submissionId" FROM formbridge.submissions
    WHERE editable AND expires_at < $1 ORDER BY expires_at LIMIT $2`,
};
const WARNABLE: Statement = {
  name: "warnable",
  text: `SELECT tenant, submission_id AS "submissionId" FROM formbridge.submissions
    WHERE warn_at IS NOT NULL AND warn_at < $1 ORDER BY warn_at LIMIT $2`,
};

export function createDeadlines(db: Database): Deadlines {
  return {
    now: () => databaseNow(db),
    expired: (before, limit) => db.read<Due>(EXPIRED, [before, limit]),
    warnable: (before, limit) => db.read<Due>(WARNABLE, [before, limit]),
  };
}
