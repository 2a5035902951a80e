import {
  type Change,
  createKeyQueue,
  type Idempotency,
  type Instant,
  type KeyRecord,
  type KeyWrite,
  type ScopedKey,
} from "@formbridge/core";
import {
  columnsOf,
  expiredRecordOf,
  foundRecordOf,
  hashRange,
  recordOf,
  records,
  recordToWrite,
  submissions,
} from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { HealthCheck } from "./health.ts";
import { pick, prepare, prepareInsert, sql } from "./sql.ts";

const OWN = columnsOf(records, "submission_id");
const RECORD = sql`${pick(records, "r", ...OWN)}, ${pick(submissions, "s", "submission_id")}`;
const FROM = sql`FROM ${records} AS r JOIN ${submissions} AS s ON s.sid = r.sid`;
type Found = NonNullable<(typeof RECORD)["result"]>;

export type FindRecord = (key: ScopedKey, now: Instant) => KeyRecord | undefined;

/** The live record under a key. */
export function createRecordFinder(db: Database): FindRecord {
  const select = db.prepare<(string | number)[], Found>(
    `SELECT ${RECORD.text} ${FROM.text}
     WHERE r.hash = unhex(?) AND r.operation = ? AND r.intake_id = ? AND r.tenant = ? AND (r.live_until IS NULL OR r.live_until > ?)`,
  );
  return ({ hash, operation, intakeId, tenant }, now) => {
    const found = select.get(hash, operation, intakeId, tenant, now);
    return found && recordOf(found);
  };
}

/** Only inside a commit's transaction. */
export function createRecordWriter(db: Database) {
  const put = prepareInsert(db, records, { columns: OWN, own: ["sid"], verb: "INSERT OR REPLACE" });
  const end = db.prepare(
    `UPDATE records SET live_until = max(expires_at, ? + keep_after_end_ms)
     WHERE sid = ? AND keep_after_end_ms IS NOT NULL`,
  );
  const dropLive = db.prepare("DELETE FROM records WHERE sid = ? AND operation = ? AND hash = unhex(?)");
  const drop = db.prepare(
    "DELETE FROM records WHERE sid = ? AND operation = ? AND hash = unhex(?) AND live_until <= ?",
  );
  return {
    put(change: Change, key: KeyWrite, { sid, at }: { sid: number; at: Instant }): void {
      put({ ...recordToWrite(change, key), recorded_at: at }, sid);
    },
    drop(sid: number, { dropKeys = [], dropLiveKeys = [] }: Change, at: Instant): void {
      for (const { operation, hash } of dropKeys) drop.run(sid, operation, hash, at);
      for (const { operation, hash } of dropLiveKeys) dropLive.run(sid, operation, hash);
    },
    /** The submission has ended: records that were kept until then now get a time to expire. */
    submissionEnded(sid: number, endedAt: Instant): void {
      end.run(endedAt, sid);
    },
  };
}

interface Sources {
  now: () => Instant;
  health: HealthCheck;
}

export function createIdempotency(db: Database, { now, health }: Sources): Idempotency {
  const find = createRecordFinder(db);
  const expired = prepare<Found>(db, {
    text: `SELECT ${RECORD.text} ${FROM.text} WHERE r.live_until <= ? ORDER BY r.live_until LIMIT ?`,
  });
  const search = prepare<Found>(db, {
    text: `SELECT ${RECORD.text} ${FROM.text} WHERE r.hash BETWEEN unhex(?) AND unhex(?) AND r.tenant = ?
      ORDER BY r.intake_id, r.operation, r.hash LIMIT ?`,
  });
  return {
    enter: createKeyQueue(),
    find: (key) => answer(() => find(key, now())),
    expired: (limit) => answer(() => expired.all(now(), limit).map(expiredRecordOf)),
    search: ({ tenant, hash }, limit) => answer(() => search.all(...hashRange(hash), tenant, limit).map(foundRecordOf)),
    health,
  };
}
