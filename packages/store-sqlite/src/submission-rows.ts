import type { Change } from "@formbridge/core";
import {
  columnsOf,
  computed,
  type Row,
  type SubmissionToWrite,
  submissions,
  submissionToWrite,
} from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { assign, boundValues, pick, prepare, prepareInsert, sql } from "./sql.ts";

const MOMENTS = ["state", "editable", "expires_at", "warn_at", "ended_at"] as const;
const QUIET = ["version", "revision", "sealed_fields", "doc"] as const;
const ERASED = ["created_by", "erased_at"] as const;

/** What a commit needs to know about the row that it replaces. */
export type StoredRow = { sid: number } & Pick<
  Row<typeof submissions>,
  "tenant" | "revision" | "state" | "expires_at" | "warn_at" | "ended_at"
>;

/** Reads and writes rows of `submissions` for a commit; only inside its transaction. */
export function createRowWriter(db: Database) {
  const select = prepare(
    db,
    sql`SELECT ${computed<{ sid: number }>("s.sid")}, ${pick(submissions, "s", "tenant", "revision", "state", "expires_at", "warn_at", "ended_at")}
      FROM ${submissions} AS s WHERE s.submission_id = ?`,
  );
  const insert = prepareInsert(db, submissions, {
    columns: columnsOf(submissions),
    conflict: "ON CONFLICT (submission_id) DO NOTHING",
  });
  const updating = (...names: (typeof MOMENTS | typeof QUIET | typeof ERASED)[number][]) => {
    const statement = db.prepare(
      `UPDATE submissions SET ${assign(submissions, ...names)}, sealed_token = coalesce(?, sealed_token) WHERE sid = ?`,
    );
    return (sid: number, row: SubmissionToWrite) =>
      void statement.run(...boundValues(names, row), row.sealed_token, sid);
  };
  const updateQuietly = updating(...QUIET);
  const move = updating(...MOMENTS, ...QUIET);
  const erase = updating(...ERASED, ...MOMENTS, ...QUIET);

  return {
    stored: (submissionId: string): StoredRow | undefined => select.get(submissionId),
    /** Undefined: the id already exists. */
    insert(change: Change): number | undefined {
      const row = submissionToWrite(change);
      // A create without a token is refused by NOT NULL.
      const { changes, lastInsertRowid } = insert(row as Row<typeof submissions>);
      return changes === 0 ? undefined : Number(lastInsertRowid);
    },
    update(before: StoredRow, change: Change): void {
      const row = submissionToWrite(change);
      const isStill =
        row.state === before.state &&
        row.expires_at === before.expires_at &&
        row.warn_at === before.warn_at &&
        row.ended_at === before.ended_at;
      if (change.erase === true) erase(before.sid, row);
      else if (isStill) updateQuietly(before.sid, row);
      else move(before.sid, row);
    },
  };
}
