import { existsSync } from "node:fs";
import { sha256 } from "@formbridge/core";
import {
  COPY_KINDS,
  type CopiedRow,
  type CopyCounts,
  type CopyKind,
  type CopySource,
  columnsOf,
  kindOf,
  type Sql,
  submissions,
  TABLES,
  type Table,
} from "@formbridge/store-sql";
import Sqlite, { type Database } from "better-sqlite3";
import { LAST_POSITION } from "./events.ts";
import { isBusy } from "./failures.ts";
import { pendingMigrations } from "./migrate.ts";
import { pick, prepare, sql } from "./sql.ts";

const { tokens, events, records } = TABLES;
const OF_SUBMISSION = ["tenant", "submission_id", "intake_id"] as const;

/** Tables whose rows take columns from their submission, or have no key of their own. */
const SELECT: { [Kind in CopyKind]?: Sql<CopiedRow<Kind>> } = {
  submissions: sql`SELECT ${pick(submissions, "s")} FROM ${submissions} AS s ORDER BY s.sid`,
  tokens: sql`SELECT ${pick(submissions, "s", "submission_id")}, ${pick(tokens, "t", ...columnsOf(tokens, "submission_id"))}
    FROM ${tokens} AS t CROSS JOIN ${submissions} AS s ON s.sid = t.sid ORDER BY t.sid, t.version`,
  events: sql`SELECT ${pick(submissions, "s", ...OF_SUBMISSION)}, ${pick(events, "e", ...columnsOf(events, ...OF_SUBMISSION))}
    FROM ${events} AS e CROSS JOIN ${submissions} AS s ON s.sid = e.sid ORDER BY e.position`,
  records: sql`SELECT ${pick(submissions, "s", "submission_id")}, ${pick(records, "r", ...columnsOf(records, "submission_id"))}
    FROM ${records} AS r CROSS JOIN ${submissions} AS s ON s.sid = r.sid ORDER BY r.record_id`,
};

/** The primary keys of the others. */
const KEYS: { [Kind in CopyKind]?: string } = {
  secret_checks: "single",
  definitions: "digest",
  intakes: "id",
  api_keys: "key_id",
  handoffs: "handoff_id",
  handoff_keys: "hash",
  review_links: "link_id",
  jobs: "tenant, key",
  webhooks: "webhook_id",
  publications: "submission_id",
  incidents: "incident_id",
  blocks: "block_id",
};

/** Rows in the order of their keys: the same order however often they are read. */
function selectOf<Kind extends CopyKind>(kind: Kind): Sql<CopiedRow<Kind>> {
  const table: Table = TABLES[kind];
  return (
    SELECT[kind] ??
    (sql`SELECT ${pick(table, "a")} FROM ${table} AS a ORDER BY ${KEYS[kind] ?? ""}` as Sql<CopiedRow<Kind>>)
  );
}

/** SQLite has no booleans. */
function copiedRow<Kind extends CopyKind>(kind: Kind, row: CopiedRow<Kind>): CopiedRow<Kind> {
  const table: Table = TABLES[kind];
  const flags = columnsOf(table).filter((name) => kindOf(table, name) === "bool");
  if (flags.length === 0) return row;
  return { ...row, ...Object.fromEntries(flags.map((name) => [name, Boolean(row[name as keyof typeof row])])) };
}

const PAGE_ROWS = 1_000;
const PAGE_SIZE = 4_194_304;
const sizeOf = (row: object): number =>
  Object.values(row).reduce<number>((size, value) => size + (typeof value === "string" ? value.length : 8), 0);

function* pagesOf<Row extends object>(rows: Iterable<Row>): Generator<Row[], void, undefined> {
  let page: Row[] = [];
  let size = 0;
  for (const row of rows) {
    page.push(row);
    size += sizeOf(row);
    if (page.length < PAGE_ROWS && size < PAGE_SIZE) continue;
    yield page;
    page = [];
    size = 0;
  }
  if (page.length > 0) yield page;
}

function* copiedRows<Kind extends CopyKind>(db: Database, kind: Kind, skip: number): Generator<CopiedRow<Kind>> {
  const { text } = selectOf(kind);
  for (const row of prepare<CopiedRow<Kind>>(db, { text: `${text} LIMIT -1 OFFSET ?` }).iterate(skip)) {
    yield copiedRow(kind, row);
  }
}

/** Every write to the file changes at least one of these. */
const MARKS = `SELECT (SELECT checks FROM secret_checks), ${LAST_POSITION}, (SELECT sum(revision) FROM submissions),
  (SELECT group_concat(hex(digest) || retired || updated_at) FROM intakes), (SELECT group_concat(key_id || revoked) FROM api_keys),
  (SELECT max(record_id) FROM records), (SELECT sum(live_until) FROM records),
  (SELECT sum(run_at + attempt + leased_until) FROM jobs),
  (SELECT group_concat(webhook_id || revision || state || claim || next_attempt_at || leased_until) FROM webhooks),
  (SELECT sum(stamped_at) FROM publications), (SELECT sum(revision) FROM incidents), (SELECT group_concat(block_id) FROM blocks)`;

/** Opens the file exclusively. Fails if another process has it open, and makes others fail while it is open. */
function openAlone(file: string): Database {
  if (!existsSync(file)) throw new Error(`The file ${file} doesn't exist. Check the path.`);
  const db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    // The lock is taken by the first write; it is kept until the file is closed.
    db.exec("BEGIN EXCLUSIVE; COMMIT");
    return db;
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    throw new Error(
      `${file} is open in another process, whose writes would be missing from the copy: stop the server, then run the copy again.`,
      { cause: error },
    );
  }
}

/** A SQLite file, whole, to be copied to another store. */
export function openCopySource(file: string): CopySource {
  const db = openAlone(file);
  try {
    if (pendingMigrations(db).length > 0) {
      throw new Error(`${file} has the schema of an older FormBridge. Run formbridge migrate on it first.`);
    }
    const count = (kind: CopyKind): number => db.prepare<[], number>(`SELECT count(*) FROM ${kind}`).pluck().get() ?? 0;
    const counts = Object.fromEntries(COPY_KINDS.map((kind) => [kind, count(kind)])) as CopyCounts;
    return {
      counts,
      lastPosition: db.prepare<[], number>(`SELECT ${LAST_POSITION}`).pluck().get() ?? 0,
      fingerprint: sha256(JSON.stringify([counts, db.prepare(MARKS).raw().get()])),
      pages: (kind, skip) => pagesOf(copiedRows(db, kind, skip)),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}
