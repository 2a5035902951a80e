import type { Instant, KeyRecord, ScopedKey } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { FlatChange, RecordColumns } from "./flat-change.ts";

type FoundColumns = [
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

function recordOf({ operation, hash }: ScopedKey, columns: FoundColumns): KeyRecord {
  const [submissionId, fingerprint, principal, carriedVersion, failed, sealed, answerBy, recordedAt, expiresAt, keep] =
    columns;
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

export type FindRecord = (key: ScopedKey, now: Instant) => KeyRecord | undefined;

/** The live record under a key. */
export function createRecordFinder(db: Database): FindRecord {
  const select = db
    .prepare<[string, string, string, string, number], FoundColumns>(
      `SELECT submission_id, fingerprint, principal, carried_version, failed, answer, answer_by, recorded_at, expires_at,
         keep_after_end_ms
       FROM records
       WHERE hash = ? AND operation = ? AND intake_id = ? AND tenant = ? AND (live_until IS NULL OR live_until > ?)`,
    )
    .raw();
  return (key, now) => {
    const found = select.get(key.hash, key.operation, key.intakeId, key.tenant, now);
    return found === undefined ? undefined : recordOf(key, found);
  };
}

/** `isLive` as a column: the moment from which it says no, or null while only the submission's end can tell. */
function liveUntil(expiresAt: Instant, keepAfterEndMs: number | null, endedAt: Instant | null): Instant | null {
  if (keepAfterEndMs === null) return expiresAt;
  return endedAt === null ? null : Math.max(expiresAt, endedAt + keepAfterEndMs);
}

export function createRecordWriter(db: Database) {
  const put = db.prepare(
    `INSERT OR REPLACE INTO records (tenant, intake_id, operation, hash, sid, submission_id, fingerprint, principal,
       carried_version, failed, answer, answer_by, recorded_at, expires_at, keep_after_end_ms, live_until)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const end = db.prepare(
    `UPDATE records SET live_until = max(expires_at, ? + keep_after_end_ms)
     WHERE sid = ? AND keep_after_end_ms IS NOT NULL`,
  );
  const forget = db.prepare(
    "DELETE FROM records WHERE record_id IN (SELECT record_id FROM records WHERE live_until <= ? ORDER BY live_until LIMIT ?)",
  );
  return {
    put(change: FlatChange, record: RecordColumns, { sid, at }: { sid: number; at: Instant }): void {
      const { tenant, intakeId, submissionId, endedAt } = change;
      const [operation, hash, , ...written] = record;
      const [fingerprint, principal, carriedVersion, failed, answer, answerBy, expiresAt, keepAfterEndMs] = written;
      put.run(
        tenant,
        intakeId,
        operation,
        hash,
        sid,
        submissionId,
        fingerprint,
        principal,
        carriedVersion,
        failed,
        answer,
        answerBy,
        at,
        expiresAt,
        keepAfterEndMs,
        liveUntil(expiresAt, keepAfterEndMs, endedAt),
      );
    },
    /** The submission has ended: from now on the records that wait for it have an end too. */
    submissionEnded(sid: number, endedAt: Instant): void {
      end.run(endedAt, sid);
    },
    forgetExpired: (at: Instant, limit: number): number => forget.run(at, limit).changes,
  };
}
