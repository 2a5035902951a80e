/**
 * The floor: what Fastify and SQLite cost when there is nothing between them. It writes the rows that every server with resumable
 * submissions must write, as durably as ours and in groups like ours, and keeps no rule: no validation, no rotation check,
 * no chain, no sealing, no idempotency.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import Fastify from "fastify";

const [folder = "."] = process.argv.slice(2);
const { schema } = JSON.parse(readFileSync(new URL("intakes/supplier.json", import.meta.url), "utf8"));

const db = new Sqlite(join(folder, "floor.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.pragma("cache_size = -65536");
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
type Found = [sid: number, submissionId: string, version: number, updatedAt: string, fields: string];
const byToken = db
  .prepare<[string], Found>(
    `SELECT s.sid, s.submission_id, s.version, s.updated_at, s.fields
     FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid WHERE t.hash = ?`,
  )
  .raw();

/** One COMMIT, and so one sync of the disk, for what arrives in one turn of the event loop. */
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

const newToken = (): string => `rtok_${randomBytes(32).toString("base64url")}`;
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

interface Written {
  sid: number | bigint;
  version: number;
  now: string;
  token: string;
  actor: unknown;
  fields: unknown;
}
function writeHistory({ sid, version, now, token, actor, fields }: Written): void {
  insertToken.run(hashOf(token), sid, version, now);
  insertEvent.run(sid, "field.updated", now, JSON.stringify(actor), JSON.stringify(fields));
  insertEvent.run(sid, "token.updated", now, JSON.stringify(actor), JSON.stringify({ version, issuedAt: now }));
}

type Fields = Record<string, unknown>;
type ByToken = { Params: { token: string } };
const app = Fastify();

/** Constants that make the answers as long as ours. */
const FINDINGS = {
  missingFields: ["email"],
  validationErrors: [
    { path: "email", code: "required", message: "email is required", expected: "string", received: null },
  ],
};
const NO_FINDINGS = { missingFields: [], validationErrors: [] };
const ACTOR = { kind: "agent", id: "bench-agent" };
const FILLED = ["company", "contact", "country", "address.street", "address.city", "address.postcode", "categories"];

app.post<{ Body: { actor: unknown; initialFields: Fields } }>("/intakes/:id/submissions", async (request, reply) => {
  const { actor, initialFields: fields } = request.body;
  const submissionId = `sub_${randomUUID()}`;
  const token = newToken();
  const now = new Date().toISOString();
  await inGroup(() => {
    const { lastInsertRowid } = insertSubmission.run(submissionId, now, JSON.stringify(fields));
    writeHistory({ sid: lastInsertRowid, version: 1, now, token, actor, fields });
  });
  const marks = { ok: true, submissionId, state: "in_progress", version: 1, resumeToken: token, tokenExpiresAt: now };
  const rest = { expiresAt: now, replayCount: 0, originalTimestamp: now };
  return reply.code(201).send({ ...marks, intakeId: "supplier", schema, fields, ...FINDINGS, ...rest });
});

app.patch<ByToken & { Body: { actor: unknown; fields: Fields } }>("/resume/:token/fields", async (request, reply) => {
  const found = byToken.get(hashOf(request.params.token));
  if (found === undefined) return reply.code(404).send({ ok: false });
  const [sid, submissionId, before, , text] = found;
  const version = before + 1;
  const { actor, fields: patch } = request.body;
  const fields = { ...(JSON.parse(text) as Fields), ...patch };
  const token = newToken();
  const now = new Date().toISOString();
  await inGroup(() => {
    updateSubmission.run(version, now, JSON.stringify(fields), sid);
    writeHistory({ sid, version, now, token, actor, fields: patch });
  });
  const marks = { ok: true, submissionId, state: "in_progress", version, resumeToken: token, tokenExpiresAt: now };
  return { ...marks, fields, updatedFields: Object.keys(patch), ...NO_FINDINGS, updatedAt: now };
});

app.get<ByToken>("/resume/:token", async (request, reply) => {
  const found = byToken.get(hashOf(request.params.token));
  if (found === undefined) return reply.code(404).send({ ok: false });
  const [, submissionId, version, updatedAt, text] = found;
  const fields = JSON.parse(text) as Fields;
  const attribution: Record<string, unknown> = {};
  for (const path of [...FILLED, "email", "employees", "notes"]) {
    attribution[path] = { actor: ACTOR, at: updatedAt, version };
  }
  const marks = { ok: true, submissionId, state: "in_progress", version, resumeToken: request.params.token };
  const times = { createdAt: updatedAt, updatedAt, originalTimestamp: updatedAt, expiresAt: updatedAt };
  const people = { createdBy: ACTOR, lastUpdatedBy: ACTOR, replayCount: 0 };
  const ttl = { expiresAt: updatedAt, remainingMs: 604_800_000 };
  return {
    ...marks,
    tokenExpiresAt: updatedAt,
    intakeId: "supplier",
    intakeVersion: "1.0.0",
    fields,
    schema,
    attribution,
    ...NO_FINDINGS,
    ...times,
    ...people,
    ttl,
  };
});

process.on("SIGTERM", () => {
  app.close().then(() => {
    db.close();
    process.exit(0);
  });
});
process.stdout.write(`listening on ${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
