import type { Change, Instant, TokenCriteria, TokenIndex } from "@formbridge/core";
import { computed, submissions, tokenOf, tokens, tokenToWrite } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { HealthCheck } from "./health.ts";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

/** When the token after this one was issued. */
const ROTATED_AT = computed<{ rotated_at: Instant | null }>(
  `CASE WHEN t.version < s.version THEN (SELECT n.issued_at FROM tokens AS n WHERE n.sid = t.sid AND n.version > t.version
     ORDER BY n.version LIMIT 1) END AS rotated_at`,
);
const COLUMNS = sql`${pick(submissions, "s", "tenant", "submission_id", "intake_id")},
  ${pick(tokens, "t", "version", "hash", "epoch", "issued_at", "expires_at")}, ${ROTATED_AT}`;
const FROM = sql`FROM ${tokens} AS t JOIN ${submissions} AS s ON s.sid = t.sid`;

/** The columns of a token and where they come from: `t` is the token, `s` its submission. */
export const TOKEN = computed<NonNullable<(typeof COLUMNS)["result"]>>(`${COLUMNS.text} ${FROM.text}`);

/** Binds the hash twice: its first bytes for the index, and all of it. */
export const BY_HASH = "substr(t.hash, 1, 8) = unhex(substr(?, 1, 16)) AND t.hash = unhex(?)";

/** Writes the token that a change issues; only inside its transaction. */
export function createTokenWriter(db: Database): (sid: number, change: Change) => void {
  const insert = prepareInsert(db, tokens, {
    columns: ["version", "hash", "epoch", "issued_at", "expires_at"],
    own: ["sid"],
  });
  return (sid, change) => {
    const token = tokenToWrite(change);
    if (token !== undefined) insert(token, sid);
  };
}

export function createTokenIndex(db: Database, health: HealthCheck, writer: Writer): TokenIndex {
  const byHash = prepare(db, sql`SELECT ${TOKEN} WHERE ${BY_HASH}`);
  const forget = db.prepare(
    `DELETE FROM tokens WHERE (sid, version) IN (
       SELECT t.sid, t.version FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid
       WHERE t.expires_at < ? AND (t.version < s.version OR s.ended_at IS NOT NULL) ORDER BY t.expires_at LIMIT ?)`,
  );
  return {
    find: (hash) =>
      answer(() => {
        const found = byHash.get(hash, hash);
        return found && tokenOf(found);
      }),
    query: (criteria, { limit, offset = 0 }) =>
      answer(() => {
        const { where, values } = whereOf(criteria);
        const query = sql`SELECT ${TOKEN} ${where} ORDER BY t.issued_at DESC, t.version DESC LIMIT ? OFFSET ?`;
        return prepare(db, query)
          .all(...values, limit, offset)
          .map(tokenOf);
      }),
    count: (criteria) =>
      answer(() => {
        const { where, values } = whereOf(criteria);
        const query = db.prepare<(string | number)[], number>(`SELECT count(*) ${FROM.text} ${where}`).pluck();
        return query.get(...values) ?? 0;
      }),
    forgetExpired: (before, limit) => writer.write(() => forget.run(before, limit).changes),
    health,
  };
}

function whereOf(criteria: TokenCriteria): { where: string; values: (string | number)[] } {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, value: string | number | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add("s.tenant = ?", criteria.tenant);
  add("s.submission_id = ?", criteria.submissionId);
  add("s.intake_id = ?", criteria.intakeId);
  add("t.expires_at < ?", criteria.expiresBefore);
  add("t.expires_at > ?", criteria.expiresAfter);
  if (criteria.status !== undefined) {
    conditions.push(criteria.status === "current" ? "t.version = s.version" : "t.version < s.version");
  }
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
