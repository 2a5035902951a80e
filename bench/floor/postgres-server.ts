/**
 * The floor for PostgreSQL: bare Fastify and one statement per request. It has no rules: no validation, no rotation
 * check, no chain, no sealing, no idempotency.
 */
import { Pool } from "pg";
import { type Found, serveFloor } from "./http.ts";

const [url = ""] = process.argv.slice(2);
/** The same as our default. */
const pool = new Pool({ connectionString: url, max: 10 });

await pool.query(`
  CREATE SCHEMA floor;
  CREATE TABLE floor.submissions (
    sid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, submission_id text NOT NULL UNIQUE, version int NOT NULL,
    updated_at text NOT NULL, fields jsonb NOT NULL);
  CREATE TABLE floor.tokens (hash text PRIMARY KEY, sid bigint NOT NULL, version int NOT NULL, issued_at text NOT NULL);
  CREATE TABLE floor.events (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sid bigint NOT NULL, type text NOT NULL, ts text NOT NULL,
    actor jsonb NOT NULL, payload jsonb NOT NULL);
  CREATE INDEX events_by_submission ON floor.events (sid);
`);

const CREATE = `
  WITH made AS (
    INSERT INTO floor.submissions (submission_id, version, updated_at, fields) VALUES ($1, 1, $2, $3) RETURNING sid),
  token AS (INSERT INTO floor.tokens (hash, sid, version, issued_at) SELECT $4, sid, 1, $2 FROM made)
  INSERT INTO floor.events (sid, type, ts, actor, payload)
    SELECT made.sid, e.type, $2, $5, e.payload
    FROM made, (VALUES ('field.updated', $3::jsonb), ('token.updated', $6::jsonb)) AS e (type, payload)`;

const UPDATE = `
  WITH moved AS (
    UPDATE floor.submissions AS s SET version = s.version + 1, updated_at = $2, fields = s.fields || $3::jsonb
    FROM floor.tokens AS t WHERE t.hash = $1 AND s.sid = t.sid
    RETURNING s.sid, s.submission_id, s.version, s.fields),
  token AS (INSERT INTO floor.tokens (hash, sid, version, issued_at) SELECT $4, sid, version, $2 FROM moved),
  history AS (
    INSERT INTO floor.events (sid, type, ts, actor, payload)
      SELECT moved.sid, e.type, $2, $5, e.payload
      FROM moved, (VALUES ('field.updated', $3::jsonb), ('token.updated', $6::jsonb)) AS e (type, payload))
  SELECT submission_id AS "submissionId", version, fields FROM moved`;

const FIND = `
  SELECT s.submission_id AS "submissionId", s.version, s.updated_at AS "updatedAt", s.fields
  FROM floor.tokens AS t JOIN floor.submissions AS s ON s.sid = t.sid WHERE t.hash = $1`;

await serveFloor({
  async insert({ submissionId, tokenHash, now, actor, fields }) {
    const values = [
      submissionId,
      now,
      JSON.stringify(fields),
      tokenHash,
      JSON.stringify(actor),
      `{"issuedAt":"${now}"}`,
    ];
    await pool.query({ name: "create", text: CREATE, values });
  },
  async update({ tokenHash, nextTokenHash, now, actor, fields }) {
    const values = [
      tokenHash,
      now,
      JSON.stringify(fields),
      nextTokenHash,
      JSON.stringify(actor),
      `{"issuedAt":"${now}"}`,
    ];
    return (await pool.query<Found>({ name: "update", text: UPDATE, values })).rows[0];
  },
  find: async (tokenHash) => (await pool.query<Found>({ name: "find", text: FIND, values: [tokenHash] })).rows[0],
  close: () => pool.end(),
});
