import type { TokenCriteria, TokenIndex } from "@formbridge/core";
import { computed, submissions, tokenOf, tokens } from "@formbridge/store-sql";
import type { Database, Value } from "./database.ts";
import type { HealthCheck } from "./health.ts";
import { rotatedAt } from "./load.ts";
import { pick, sql, statement } from "./sql.ts";

const FROM = sql`FROM ${tokens} AS t JOIN ${submissions} AS s ON s.submission_id = t.submission_id`.text;
const TOKEN = pick(tokens, "t");
const OWNER = pick(submissions, "s", "tenant", "intake_id");
const ROTATED_AT = computed<{ rotated_at: number | null }>(rotatedAt("t"));
const WHERE = `WHERE ($1::text IS NULL OR s.tenant = $1) AND ($2::text IS NULL OR t.submission_id = $2)
  AND ($3::text IS NULL OR s.intake_id = $3) AND ($4::bigint IS NULL OR t.expires_at < $4)
  AND ($5::bigint IS NULL OR t.expires_at > $5) AND ($6::boolean IS NULL OR (t.version = s.version) = $6)`;

const FIND = statement("find_token", sql`SELECT ${TOKEN}, ${OWNER}, ${ROTATED_AT} ${FROM} WHERE t.hash = $1`);
const QUERY = statement(
  "query_tokens",
  sql`SELECT ${TOKEN}, ${OWNER}, ${ROTATED_AT} ${FROM} ${WHERE} ORDER BY t.issued_at DESC, t.version DESC LIMIT $7 OFFSET $8`,
);
const COUNT = statement(
  "count_tokens",
  sql`SELECT ${computed<{ count: number }>("count(*) AS count")} ${FROM} ${WHERE}`,
);
const FORGET = statement(
  "forget_tokens",
  sql`DELETE FROM ${tokens} WHERE (submission_id, version) IN (
      SELECT t.submission_id, t.version ${FROM}
       WHERE t.expires_at < $1 AND (t.version < s.version OR s.ended_at IS NOT NULL)
       ORDER BY t.expires_at LIMIT $2 FOR UPDATE OF t SKIP LOCKED)
    RETURNING version`,
);

const criteriaValues = (criteria: TokenCriteria): Value[] => [
  criteria.tenant ?? null,
  criteria.submissionId ?? null,
  criteria.intakeId ?? null,
  criteria.expiresBefore ?? null,
  criteria.expiresAfter ?? null,
  criteria.status === undefined ? null : criteria.status === "current",
];

export function createTokenIndex(db: Database, health: HealthCheck): TokenIndex {
  return {
    find: async (hash) => (await db.read(FIND, [hash])).map(tokenOf)[0],
    query: async (criteria, { limit, offset = 0 }) =>
      (await db.read(QUERY, [...criteriaValues(criteria), limit, offset])).map(tokenOf),
    count: async (criteria) => (await db.read(COUNT, criteriaValues(criteria)))[0]?.count ?? 0,
    forgetExpired: async (before, limit) => (await db.write(FORGET, [before, limit])).length,
    health,
  };
}
