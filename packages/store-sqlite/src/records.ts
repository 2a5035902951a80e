import {
  createKeyLine,
  type Idempotency,
  type Instant,
  type KeyRecord,
  type KeyWrite,
  type ScopedKey,
} from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { HealthCheck } from "./health.ts";

type RecordColumns = [
  submissionId: string,
  fingerprint: string,
  principal: string,
  carriedVersion: number,
  failed: number,
  answer: string,
  answerBy: number | null,
  recordedAt: number,
  expiresAt: number,
  keepAfterEndMs: number | null,
];

function recordOf(key: ScopedKey, columns: RecordColumns): KeyRecord {
  const [submissionId, fingerprint, principal, carriedVersion, failed, sealed, answerBy, recordedAt, expiresAt, keep] =
    columns;
  const { operation, hash } = key;
  return {
    ref: { operation, hash },
    submissionId,
    fingerprint,
    principal,
    carriedVersion,
    failed: failed === 1,
    answer: sealed,
    ...(answerBy === null ? {} : { answerBy }),
    recordedAt,
    expiresAt,
    ...(keep === null ? {} : { keepAfterEndMs: keep }),
  };
}

/** `isLive` as a column: the moment from which it says no, or null while only the submission's end can tell. */
function liveUntil(write: Pick<KeyWrite, "expiresAt" | "keepAfterEndMs">, endedAt: Instant | null): Instant | null {
  if (write.keepAfterEndMs === undefined) return write.expiresAt;
  return endedAt === null ? null : Math.max(write.expiresAt, endedAt + write.keepAfterEndMs);
}

export interface RecordWrite {
  scope: ScopedKey;
  sid: number;
  submissionId: string;
  write: KeyWrite;
  at: Instant;
  endedAt: Instant | null;
}

/** Looks records up, and writes them for a commit inside its transaction. */
export function createRecords(db: Database) {
  const select = db
    .prepare<[string, string, string, string, number], RecordColumns>(
      `SELECT submission_id, fingerprint, principal, carried_version, failed, answer, answer_by, recorded_at, expires_at,
         keep_after_end_ms
       FROM records
       WHERE hash = ? AND operation = ? AND intake_id = ? AND tenant = ? AND (live_until IS NULL OR live_until > ?)`,
    )
    .raw();
  const put = db.prepare(
    `INSERT OR REPLACE INTO records (tenant, intake_id, operation, hash, sid, submission_id, fingerprint, principal,
       carried_version, failed, answer, answer_by, recorded_at, expires_at, keep_after_end_ms, live_until)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const end = db.prepare(
    `UPDATE records SET live_until = max(expires_at, ? + keep_after_end_ms)
     WHERE sid = ? AND keep_after_end_ms IS NOT NULL`,
  );
  return {
    find(key: ScopedKey, now: Instant): KeyRecord | undefined {
      const found = select.get(key.hash, key.operation, key.intakeId, key.tenant, now);
      return found === undefined ? undefined : recordOf(key, found);
    },
    put({ scope, sid, submissionId, write, at, endedAt }: RecordWrite): void {
      put.run(
        scope.tenant,
        scope.intakeId,
        scope.operation,
        scope.hash,
        sid,
        submissionId,
        write.fingerprint,
        write.principal,
        write.carriedVersion,
        write.failed ? 1 : 0,
        write.answer,
        write.answerBy ?? null,
        at,
        write.expiresAt,
        write.keepAfterEndMs ?? null,
        liveUntil(write, endedAt),
      );
    },
    /** The submission has ended: from now on the records that wait for it have an end too. */
    submissionEnded(sid: number, endedAt: Instant): void {
      end.run(endedAt, sid);
    },
  };
}
export type Records = ReturnType<typeof createRecords>;

export function createIdempotency(
  db: Database,
  { records, now, health }: { records: Records; now: () => Instant; health: HealthCheck },
): Idempotency {
  const of = (which: string): string => `SELECT r.tenant, r.intake_id AS intakeId, r.operation, r.hash
    FROM submissions AS s CROSS JOIN records AS r ON r.sid = s.sid AND r.keep_after_end_ms ${which}
    WHERE s.submission_id = @submissionId AND s.tenant = @tenant`;
  const keysOf = db.prepare<[{ tenant: string; submissionId: string }], ScopedKey>(
    `${of("IS NULL")} UNION ALL ${of("IS NOT NULL")}`,
  );
  const forget = db.prepare(
    "DELETE FROM records WHERE record_id IN (SELECT record_id FROM records WHERE live_until <= ? ORDER BY live_until LIMIT ?)",
  );
  return {
    enter: createKeyLine(),
    find: (key) => answer(() => records.find(key, now())),
    keysOf: ({ tenant, submissionId }) => answer(() => keysOf.all({ tenant, submissionId })),
    forgetExpired: (limit) => answer(() => forget.run(now(), limit).changes),
    health,
  };
}
