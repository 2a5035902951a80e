import { createKeyLine, type Idempotency, type ScopedKey } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";
import type { HealthCheck } from "./health.ts";
import { RECORD_COLUMNS, type RecordColumns, recordOf } from "./loaded-row.ts";

const FIND: Statement = {
  name: "find_record",
  text: `SELECT ${RECORD_COLUMNS} FROM formbridge.records AS r
    WHERE r.tenant = $1 AND r.intake_id = $2 AND r.operation = $3 AND r.hash = $4
      AND (r.live_until IS NULL OR r.live_until > formbridge.now_ms())`,
};
const of = (which: string): string => `SELECT tenant, intake_id AS "intakeId", operation, hash
    FROM formbridge.records WHERE tenant = $1 AND submission_id = $2 AND keep_after_end_ms ${which}`;
const KEYS_OF: Statement = { name: "keys_of", text: `${of("IS NULL")} UNION ALL ${of("IS NOT NULL")}` };
const FORGET: Statement = {
  name: "forget_records",
  text: `DELETE FROM formbridge.records WHERE (tenant, intake_id, operation, hash) IN (
      SELECT tenant, intake_id, operation, hash FROM formbridge.records
      WHERE live_until <= (SELECT formbridge.now_ms()) ORDER BY live_until LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING 1`,
};

/**
 * The line is this process's own: it spares those who wait here their work. Across processes the commit keeps the order, by
 * its lock on the key, and whoever comes second is answered `key_taken`.
 */
export function createIdempotency(db: Database, health: HealthCheck): Idempotency {
  return {
    enter: createKeyLine(),
    find: async ({ tenant, intakeId, operation, hash }) => {
      const [row] = await db.read<RecordColumns>(FIND, [tenant, intakeId, operation, hash]);
      return row && recordOf(row);
    },
    keysOf: ({ tenant, submissionId }) => db.read<ScopedKey>(KEYS_OF, [tenant, submissionId]),
    forgetExpired: async (limit) => (await db.write(FORGET, [limit])).length,
    health,
  };
}
