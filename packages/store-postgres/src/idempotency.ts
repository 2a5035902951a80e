import { createKeyQueue, type Idempotency } from "@formbridge/core";
import { expiredRecordOf, foundRecordOf, hashRange, recordOf, records } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import type { HealthCheck } from "./health.ts";
import { pick, sql, statement } from "./sql.ts";

const FIND = statement(
  "find_record",
  sql`SELECT ${pick(records, "r")} FROM ${records} AS r
    WHERE r.tenant = $1 AND r.intake_id = $2 AND r.operation = $3 AND r.hash = $4
      AND (r.live_until IS NULL OR r.live_until > formbridge.now_ms())`,
);
const EXPIRED = statement(
  "expired_records",
  sql`SELECT ${pick(records, "r", "tenant", "intake_id", "operation", "hash", "submission_id", "recorded_at", "expires_at")}
    FROM ${records} AS r WHERE r.live_until <= (SELECT formbridge.now_ms()) ORDER BY r.live_until LIMIT $1`,
);

/** No index begins with the hash, so jump from one intake and operation to the next and look up the range in each. */
const SEARCH = statement(
  "",
  sql`WITH RECURSIVE scopes AS (
      (SELECT r.intake_id, r.operation FROM ${records} AS r WHERE r.tenant = $1 ORDER BY r.intake_id, r.operation LIMIT 1)
      UNION ALL
      SELECT n.* FROM scopes AS s CROSS JOIN LATERAL (
        SELECT r.intake_id, r.operation FROM ${records} AS r
         WHERE r.tenant = $1 AND (r.intake_id, r.operation) > (s.intake_id, s.operation)
         ORDER BY r.intake_id, r.operation LIMIT 1) AS n)
    SELECT ${pick(records, "r")} FROM scopes AS s JOIN ${records} AS r
        ON r.tenant = $1 AND r.intake_id = s.intake_id AND r.operation = s.operation AND r.hash BETWEEN $2 AND $3
     ORDER BY r.intake_id, r.operation, r.hash LIMIT $4`,
);

/**
 * The queue covers only this process: it spares waiting requests their work. Across processes the commit decides: the second request
 * with a key waits for the first, and gets `key_taken`.
 */
export function createIdempotency(db: Database, health: HealthCheck): Idempotency {
  return {
    enter: createKeyQueue(),
    find: async ({ tenant, intakeId, operation, hash }) =>
      (await db.read(FIND, [tenant, intakeId, operation, hash])).map(recordOf)[0],
    expired: async (limit) => (await db.read(EXPIRED, [limit])).map(expiredRecordOf),
    search: async ({ tenant, hash }, limit) =>
      (await db.read(SEARCH, [tenant, ...hashRange(hash), limit])).map(foundRecordOf),
    health,
  };
}
