import type { TokenCriteria, TokenIndex, TokenRow } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { CallWriter } from "./group-commit.ts";
import type { HealthCheck } from "./health.ts";
import { headAndHash } from "./writer/tokens.ts";

type TokenColumns = [
  hash: string,
  submissionId: string,
  tenant: string,
  intakeId: string,
  version: number,
  epoch: number,
  issuedAt: number,
  expiresAt: number,
  rotatedAt: number | null,
];
/** When the token after this one was issued. */
export const ROTATED_AT = `CASE WHEN t.version < s.version THEN
  (SELECT n.issued_at FROM tokens AS n WHERE n.sid = t.sid AND n.version > t.version ORDER BY n.version LIMIT 1) END`;
const TOKEN_COLUMNS = `lower(hex(t.hash)), s.submission_id, t.tenant, s.intake_id, t.version, t.epoch, t.issued_at, t.expires_at, ${ROTATED_AT}`;

function tokenOf(columns: TokenColumns): TokenRow {
  const [hash, submissionId, tenant, intakeId, version, epoch, issuedAt, expiresAt, rotatedAt] = columns;
  const row = { hash, submissionId, tenant, intakeId, version, epoch, issuedAt, expiresAt };
  return rotatedAt === null ? row : { ...row, rotatedAt };
}

/** Takes `headAndHash`. */
export const BY_HASH = "t.head = ? AND t.hash = unhex(?)";

const FROM = "FROM tokens AS t JOIN submissions AS s ON s.sid = t.sid";

export function createTokenIndex(db: Database, health: HealthCheck, call: CallWriter): TokenIndex {
  const byHash = db.prepare<[number, string], TokenColumns>(`SELECT ${TOKEN_COLUMNS} ${FROM} WHERE ${BY_HASH}`).raw();
  return {
    find: (hash) =>
      answer(() => {
        const found = byHash.get(...headAndHash(hash));
        return found === undefined ? undefined : tokenOf(found);
      }),
    query: (criteria, { limit, offset = 0 }) =>
      answer(() => {
        const { sql, values } = whereOf(criteria);
        return db
          .prepare<unknown[], TokenColumns>(
            `SELECT ${TOKEN_COLUMNS} ${FROM} ${sql} ORDER BY t.issued_at DESC, t.version DESC LIMIT ? OFFSET ?`,
          )
          .raw()
          .all(...values, limit, offset)
          .map(tokenOf);
      }),
    count: (criteria) =>
      answer(() => {
        const { sql, values } = whereOf(criteria);
        return (
          db
            .prepare<unknown[], number>(`SELECT count(*) ${FROM} ${sql}`)
            .pluck()
            .get(...values) ?? 0
        );
      }),
    forgetExpired: (before, limit) => call("forgetTokens", before, limit),
    health,
  };
}

function whereOf(criteria: TokenCriteria): { sql: string; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (sql: string, value: unknown) => {
    if (value === undefined) return;
    conditions.push(sql);
    values.push(value);
  };
  add("t.tenant = ?", criteria.tenant);
  add("t.sid = (SELECT sid FROM submissions WHERE submission_id = ?)", criteria.submissionId);
  add("s.intake_id = ?", criteria.intakeId);
  add("t.expires_at < ?", criteria.expiresBefore);
  add("t.expires_at > ?", criteria.expiresAfter);
  if (criteria.status !== undefined) {
    conditions.push(criteria.status === "current" ? "t.version = s.version" : "t.version < s.version");
  }
  return { sql: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
