import type { TokenCriteria, TokenIndex, TokenRow } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import type { HealthCheck } from "./health.ts";
import type { Value } from "./sized-query.ts";

const FROM = `FROM formbridge.tokens AS t
  JOIN formbridge.submissions AS s ON s.tenant = t.tenant AND s.submission_id = t.submission_id`;
/** A token is rotated when the one after it was issued. */
const SELECT = `SELECT t.hash, t.submission_id, t.tenant, t.intake_id, t.version, t.epoch, t.issued_at, t.expires_at,
  CASE WHEN t.version < s.version THEN
    (SELECT n.issued_at FROM formbridge.tokens AS n
      WHERE n.tenant = t.tenant AND n.submission_id = t.submission_id AND n.version > t.version
      ORDER BY n.version LIMIT 1) END AS rotated_at ${FROM}`;

const FIND: Statement = { name: "find_token", text: `${SELECT} WHERE t.hash = $1` };
const WHERE = `WHERE ($1::text IS NULL OR t.tenant = $1) AND ($2::text IS NULL OR t.submission_id = $2)
  AND ($3::text IS NULL OR t.intake_id = $3) AND ($4::bigint IS NULL OR t.expires_at < $4)
  AND ($5::bigint IS NULL OR t.expires_at > $5) AND ($6::boolean IS NULL OR (t.version = s.version) = $6)`;
const QUERY: Statement = {
  name: "query_tokens",
  text: `${SELECT} ${WHERE} ORDER BY t.issued_at DESC, t.version DESC LIMIT $7 OFFSET $8`,
};
const COUNT: Statement = { name: "count_tokens", text: `SELECT count(*) AS count ${FROM} ${WHERE}` };
const FORGET: Statement = {
  name: "forget_tokens",
  text: `DELETE FROM formbridge.tokens WHERE (tenant, submission_id, version) IN (
      SELECT t.tenant, t.submission_id, t.version ${FROM}
      WHERE t.expires_at < $1 AND (t.version < s.version OR s.ended_at IS NOT NULL)
      ORDER BY t.expires_at LIMIT $2 FOR UPDATE OF t SKIP LOCKED)
    RETURNING 1`,
};

interface TokenColumns {
  hash: string;
  submission_id: string;
  tenant: string;
  intake_id: string;
  version: number;
  epoch: number;
  issued_at: number;
  expires_at: number;
  rotated_at: number | null;
}

const tokenOf = (columns: TokenColumns): TokenRow => ({
  hash: columns.hash,
  submissionId: columns.submission_id,
  tenant: columns.tenant,
  intakeId: columns.intake_id,
  version: columns.version,
  epoch: columns.epoch,
  issuedAt: columns.issued_at,
  expiresAt: columns.expires_at,
  ...(columns.rotated_at !== null && { rotatedAt: columns.rotated_at }),
});

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
    find: async (hash) => (await db.read<TokenColumns>(FIND, [hash])).map(tokenOf)[0],
    query: async (criteria, { limit, offset = 0 }) =>
      (await db.read<TokenColumns>(QUERY, [...criteriaValues(criteria), limit, offset])).map(tokenOf),
    count: async (criteria) => (await db.read<{ count: number }>(COUNT, criteriaValues(criteria)))[0]?.count ?? 0,
    forgetExpired: async (before, limit) => (await db.write(FORGET, [before, limit])).length,
    health,
  };
}
