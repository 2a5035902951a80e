/**
 * The floor for the embedded store: what Fastify and SQLite cost with nothing in between. It writes rows as durably as
 * ours and with group commit like ours, but has no rules: no validation, no rotation check, no chain, no sealing, no
 * idempotency.
 */
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { type Fields, serveFloor } from "./http.ts";

const [folder = "."] = process.argv.slice(2);

const db = new Sqlite(join(folder, "floor.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
// The same as ours: with a larger cache, commits that split a page take longer.
db.pragma("cache_size = -16384");
db.exec(`
  CREATE TABLE submissions (
    sid INTEGER PRIMARY KEY, submission_id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, updated_at TEXT NOT NULL,
    fields TEXT NOT NULL) STRICT;
  CREATE TABLE tokens (
    hash TEXT PRIMARY KEY, sid INTEGER NOT NULL, version INTEGER NOT NULL, issued_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    position INTEGER PRIMARY KEY, sid INTEGER NOT NULL, type TEXT NOT NULL, ts TEXT NOT NULL, actor TEXT NOT NULL,
    payload TEXT NOT NULL) STRICT;
  CREATE INDEX events_by_submission ON events (sid);
`);
const insertSubmission = db.prepare(
  "INSERT INTO submissions (submission_id, version, updated_at, fields) VALUES (?, 1, ?, ?)",
);
const updateSubmission = db.prepare("UPDATE submissions SET version = ?, updated_at = ?, fields = ? WHERE sid = ?");
const insertToken = db.prepare("INSERT INTO tokens (hash, sid, version, issued_at) VALUES (?, ?, ?, ?)");
const insertEvent = db.prepare("INSERT INTO events (sid, type, ts, actor, payload) VALUES (?, ?, ?, ?, ?)");
type Row = [sid: number, submissionId: string, version: number, updatedAt: string, fields: string];
const byToken = db
  .prepare<[string], Row>(
    `SELECT s.sid, s.submission_id, s.version, s.updated_at, s.fields
     FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid WHERE t.hash = ?`,
  )
  .raw();

/** One COMMIT, and so one fsync, for what arrives in one turn of the event loop. */
const begin = db.prepare("BEGIN IMMEDIATE");
const commit = db.prepare("COMMIT");
const queue: { write: () => void; done: () => void }[] = [];
function flush(): void {
  const group = queue.splice(0);
  begin.run();
  for (const { write } of group) write();
  commit.run();
  for (const { done } of group) done();
}
const inGroup = (write: () => void): Promise<void> =>
  new Promise((done) => {
    if (queue.length === 0) setImmediate(flush);
    queue.push({ write, done });
  });

interface Written {
  sid: number | bigint;
  version: number;
  now: string;
  tokenHash: string;
  actor: unknown;
  fields: unknown;
}
function writeHistory({ sid, version, now, tokenHash, actor, fields }: Written): void {
  insertToken.run(tokenHash, sid, version, now);
  insertEvent.run(sid, "field.updated", now, JSON.stringify(actor), JSON.stringify(fields));
  insertEvent.run(sid, "token.updated", now, JSON.stringify(actor), JSON.stringify({ version, issuedAt: now }));
}

await serveFloor({
  insert: ({ submissionId, tokenHash, now, actor, fields }) =>
    inGroup(() => {
      const { lastInsertRowid } = insertSubmission.run(submissionId, now, JSON.stringify(fields));
      writeHistory({ sid: lastInsertRowid, version: 1, now, tokenHash, actor, fields });
    }),
  async update({ tokenHash, nextTokenHash, now, actor, fields: patch }) {
    const found = byToken.get(tokenHash);
    if (found === undefined) return undefined;
    const [sid, submissionId, before, , text] = found;
    const version = before + 1;
    const fields = { ...(JSON.parse(text) as Fields), ...patch };
    await inGroup(() => {
      updateSubmission.run(version, now, JSON.stringify(fields), sid);
      writeHistory({ sid, version, now, tokenHash: nextTokenHash, actor, fields: patch });
    });
    return { submissionId, version, fields };
  },
  async find(tokenHash) {
    const found = byToken.get(tokenHash);
    if (found === undefined) return undefined;
    const [, submissionId, version, updatedAt, text] = found;
    return { submissionId, version, updatedAt, fields: JSON.parse(text) as Fields };
  },
  async close() {
    db.close();
  },
});
