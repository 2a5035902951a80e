import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";

/** The current token of a copy, derived from its number so that any process can compute it. */
export const tokenOfCopy = (number: number): string => `rtok_${sha256(`copy ${number}`).toString("base64url")}`;

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

export const sqliteColumns = (db: Database, table: string): string[] =>
  db.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck().all(table);

/**
 * `INSERT … SELECT` of submission 1's rows of a table for every number, with some columns computed and some left out.
 */
function copyRows(db: Database, table: string, made: Record<string, string>): void {
  const columns = sqliteColumns(db, table).filter((name) => made[name] !== "");
  const values = columns.map((name) => made[name] ?? `row.${name}`);
  // From a separate table: a SELECT from the table being filled would be materialized first.
  db.exec(`
    CREATE TEMP TABLE first_of_${table} AS SELECT * FROM ${table} WHERE sid = 1;
    INSERT INTO ${table} (${columns.join(", ")})
      SELECT ${values.join(", ")} FROM numbers CROSS JOIN first_of_${table} AS row;
  `);
}

/**
 * Fills a database with copies of its first submission: the rows that the product itself wrote, with new ids and
 * tokens. As in a database that grew, sids, ids and times are in the same order, one millisecond apart.
 */
export function fillWithCopies(folder: string, copies: number): { tokens: number; events: number } {
  const db = new Sqlite(join(folder, "formbridge.db"));
  db.pragma("journal_mode = OFF");
  db.pragma("synchronous = OFF");
  db.pragma("locking_mode = EXCLUSIVE");
  db.pragma("cache_size = -1048576");
  db.function("token_hash", { deterministic: true }, (number: unknown) => sha256(tokenOfCopy(Number(number))));
  db.exec(`
    CREATE TEMP TABLE numbers AS
      WITH RECURSIVE n (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM n WHERE number < ${copies + 1})
      SELECT number, substr(submission_id, 1, 28) || printf('%012x', number) AS id, submission_id AS first_id
      FROM n, (SELECT submission_id FROM submissions WHERE sid = 1);
  `);
  const last = "(SELECT version FROM submissions WHERE sid = 1)";
  const expires_at = "row.expires_at + number - 1";
  const doc = `replace(replace(row.doc, first_id, id), row.expires_at, ${expires_at})`;
  copyRows(db, "submissions", { sid: "number", submission_id: "id", expires_at, doc });
  copyRows(db, "tokens", {
    sid: "number",
    hash: `iif(row.version = ${last}, token_hash(number), randomblob(32))`,
    issued_at: "row.issued_at + number",
    expires_at,
  });
  const { last: width, events } = db
    .prepare<[], { last: number; events: number }>(
      "SELECT max(position) AS last, count(*) AS events FROM events WHERE sid = 1",
    )
    .get() ?? { last: 0, events: 0 };
  copyRows(db, "events", {
    position: `row.position + (number - 1) * ${width}`,
    sid: "number",
    event_id: "'evt_' || number || substr(row.event_id, 4)",
  });
  const tokens = db.prepare<[], number>("SELECT count(*) FROM tokens").pluck().get() ?? 0;
  const filled = { tokens, events: events * (copies + 1) };
  db.close();
  syncFile(join(folder, "formbridge.db"));
  return filled;
}

/** Otherwise the system would write it back during the measurement. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
