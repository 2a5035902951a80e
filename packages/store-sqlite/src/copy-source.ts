import { existsSync } from "node:fs";
import { COPY_KINDS, type CopiedRows, type CopyCounts, type CopyKind, type CopySource, sha256 } from "@formbridge/core";
import Sqlite, { type Database, SqliteError } from "better-sqlite3";
import { pendingMigrations } from "./migrate.ts";
import { headOf } from "./writer/chain.ts";
import { LAST_POSITION } from "./writer/events.ts";

const OF_SUBMISSION = "s.tenant, s.submission_id, s.intake_id";
const hex = (column: string): string => `lower(hex(${column})) AS ${column.split(".").at(-1)}`;

/** Rows in the order of their keys: the same order however often they are read. */
const SELECT: Record<CopyKind, string> = {
  definitions: "SELECT digest, tenant, definition FROM definitions ORDER BY digest",
  intakes: "SELECT id, tenant, source, digest, retired, updated_at FROM intakes ORDER BY id",
  api_keys: "SELECT key_id, hash, tenant, expires_at, revoked, doc FROM api_keys ORDER BY key_id",
  submissions: `SELECT ${OF_SUBMISSION}, s.created_by_id AS created_by, s.created_at, s.state, s.editable, s.expires_at,
      s.warn_at, s.ended_at, ${hex("s.definition")}, s.erased_at, s.version, s.revision, s.token_seq, hex(s.token_hash) AS token_hash, s.idem_seq,
      hex(s.idem_hash) AS idem_hash, s.sealed_token, s.sealed_fields, s.doc
    FROM submissions AS s ORDER BY s.sid`,
  tokens: `SELECT ${OF_SUBMISSION}, t.version, ${hex("t.hash")}, t.epoch, t.issued_at, t.expires_at
    FROM tokens AS t CROSS JOIN submissions AS s ON s.sid = t.sid ORDER BY t.sid, t.version`,
  events: `SELECT ${OF_SUBMISSION}, e.position, e.stream, e.seq, e.event_id, e.type, e.ts, e.state, e.version, e.actor,
      e.payload, e.actor_salt, e.actor_digest, e.payload_salt, e.payload_digest, e.prev_hash, e.hash
    FROM events AS e CROSS JOIN submissions AS s ON s.sid = e.sid ORDER BY e.commit_position, e.position`,
  records: `SELECT tenant, submission_id, intake_id, operation, hash, fingerprint, principal, carried_version, failed, answer,
      answer_by, recorded_at, expires_at, keep_after_end_ms, live_until
    FROM records ORDER BY record_id`,
  handoffs: `SELECT s.tenant, s.submission_id, h.handoff_id, h.forget_after, h.doc
    FROM handoffs AS h JOIN submissions AS s ON s.submission_id = h.submission_id ORDER BY h.handoff_id`,
  handoff_keys: `SELECT k.hash, s.tenant, s.submission_id, h.handoff_id
    FROM handoff_keys AS k JOIN handoffs AS h ON h.handoff_id = k.handoff_id
    JOIN submissions AS s ON s.submission_id = h.submission_id ORDER BY k.hash`,
  review_links: `SELECT s.tenant, s.submission_id, r.link_id, r.hash, r.forget_after, r.doc
    FROM review_links AS r JOIN submissions AS s ON s.submission_id = r.submission_id ORDER BY r.link_id`,
  jobs: "SELECT tenant, key, kind, lane, submission_id, run_at, attempt, leased_until FROM jobs ORDER BY tenant, key",
  webhooks: `SELECT webhook_id, tenant, defined_by, revision, doc, state, position, ahead, seen, stuck, failures, next_attempt_at, last_error,
      claim, leased_until
    FROM webhooks ORDER BY webhook_id`,
};

type Columns = Record<string, string | number | null>;

/** SQLite has no booleans, and keeps callers' names as they are. */
const FLAGS = ["retired", "revoked", "editable", "failed"];
const CALLERS_NAMES = ["created_by", "principal"];

function rowOf<Kind extends CopyKind>(columns: Columns): CopiedRows[Kind] {
  const row: Record<string, unknown> = { ...columns };
  for (const name of FLAGS) if (name in row) row[name] = row[name] === 1;
  for (const name of CALLERS_NAMES) if (name in row) row[name] = JSON.stringify(row[name]);
  for (const stream of ["token", "idem"]) {
    const seq = columns[`${stream}_seq`];
    if (seq !== undefined) row[`${stream}_hash`] = headOf(Number(seq), String(columns[`${stream}_hash`])).hash;
  }
  return row as unknown as CopiedRows[Kind];
}

const PAGE_ROWS = 1_000;
const PAGE_SIZE = 4_194_304;
const sizeOf = (columns: Columns): number =>
  Object.values(columns).reduce<number>((size, value) => size + (typeof value === "string" ? value.length : 8), 0);

function* pagesOf<Kind extends CopyKind>(rows: Iterable<Columns>): Generator<CopiedRows[Kind][], void, undefined> {
  let page: CopiedRows[Kind][] = [];
  let size = 0;
  for (const columns of rows) {
    page.push(rowOf<Kind>(columns));
    size += sizeOf(columns);
    if (page.length < PAGE_ROWS && size < PAGE_SIZE) continue;
    yield page;
    page = [];
    size = 0;
  }
  if (page.length > 0) yield page;
}

/** Whatever is written to the file moves at least one of these. */
const MARKS = `SELECT (SELECT max(position) FROM commits), (SELECT sum(revision) FROM submissions),
  (SELECT group_concat(digest || retired || updated_at) FROM intakes), (SELECT group_concat(key_id || revoked) FROM api_keys),
  (SELECT max(record_id) FROM records), (SELECT sum(live_until) FROM records),
  (SELECT sum(run_at + attempt + leased_until) FROM jobs),
  (SELECT group_concat(webhook_id || revision || state || claim || next_attempt_at || leased_until) FROM webhooks)`;

/** Opens the file for itself alone: another process that has it open, or opens it later, is in the way of one of the two. */
function openAlone(file: string): Database {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    // The lock is taken by the first write; it is kept until the file is closed.
    db.exec("BEGIN EXCLUSIVE; COMMIT");
    return db;
  } catch (error) {
    db.close();
    if (!(error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY"))) throw error;
    throw new Error(
      `${file} is open in another process: stop the server that serves it. What it wrote during the copy would be left behind.`,
      { cause: error },
    );
  }
}

/** A SQLite file, whole, to be copied to another store. */
export function openCopySource(file: string): CopySource {
  const db = openAlone(file);
  try {
    if (pendingMigrations(db).length > 0) {
      throw new Error(`${file} has the schema of an older FormBridge: run formbridge migrate on it first.`);
    }
    const count = (kind: CopyKind): number => db.prepare<[], number>(`SELECT count(*) FROM ${kind}`).pluck().get() ?? 0;
    const counts = Object.fromEntries(COPY_KINDS.map((kind) => [kind, count(kind)])) as CopyCounts;
    return {
      counts,
      lastPosition: db.prepare<[], number>(`SELECT ${LAST_POSITION}`).pluck().get() ?? 0,
      fingerprint: sha256(JSON.stringify([counts, db.prepare(MARKS).raw().get()])),
      pages: (kind, skip) => pagesOf(db.prepare<[number], Columns>(`${SELECT[kind]} LIMIT -1 OFFSET ?`).iterate(skip)),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}
