import { type Change, type Due, erasedRecord, type Hash, type Instant, type Retention } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import type { RowCache } from "./row-cache.ts";

const RECORDS_OF = ["keep_after_end_ms IS NOT NULL", "keep_after_end_ms IS NULL"] as const;

/** What a commit that erases takes beside its row; only inside its transaction. */
export function createEraser(db: Database): (sid: number, change: Change) => void {
  const row = db.prepare("UPDATE submissions SET created_by_id = ?, sealed_token = '', erased_at = ? WHERE sid = ?");
  const events = db.prepare(
    `UPDATE events SET actor = NULL, actor_salt = NULL, payload = NULL, payload_salt = NULL
     WHERE sid = ? AND event_id NOT IN (SELECT value FROM json_each(?))`,
  );
  const tokens = db.prepare("DELETE FROM tokens WHERE sid = ?");
  const handoffs = db.prepare("DELETE FROM handoffs WHERE submission_id = ?");
  const links = db.prepare("DELETE FROM review_links WHERE submission_id = ?");
  const records = RECORDS_OF.map((which) =>
    db.prepare(
      `UPDATE records SET fingerprint = ?, principal = ?, answer = ?, answer_by = NULL WHERE sid = ? AND ${which}`,
    ),
  );
  return (sid, change) => {
    const { submissionId, createdBy, erasedAt } = change.row.submission;
    row.run(createdBy.id, erasedAt ?? null, sid);
    events.run(sid, JSON.stringify(change.events.map(({ eventId }) => eventId)));
    tokens.run(sid);
    handoffs.run(submissionId);
    links.run(submissionId);
    const { fingerprint, principal, answer: nothing } = erasedRecord;
    for (const update of records) update.run(fingerprint, principal, nothing, sid);
  };
}

const ENDED = "ended_at IS NOT NULL AND erased_at IS NULL";
// From one definition to the next by the index, however many submissions each has.
const DEFINITIONS = `WITH RECURSIVE found (definition) AS (
    SELECT min(definition) FROM submissions WHERE ${ENDED}
    UNION ALL
    SELECT (SELECT min(definition) FROM submissions WHERE ${ENDED} AND definition > found.definition)
    FROM found WHERE found.definition IS NOT NULL)
  SELECT lower(hex(definition)) FROM found WHERE definition IS NOT NULL`;

export function createRetention(db: Database, rows: RowCache): Retention {
  const definitions = db.prepare<[], Hash>(DEFINITIONS).pluck();
  const ended = db.prepare<[Hash, number, number], Due>(
    `SELECT tenant, submission_id AS submissionId FROM submissions
     WHERE ${ENDED} AND definition = unhex(?) AND ended_at < ? ORDER BY ended_at LIMIT ?`,
  );
  const erased = db.prepare<[number, number], { sid: number; submissionId: string }>(
    `SELECT sid, submission_id AS submissionId FROM submissions
     WHERE erased_at < ? ORDER BY erased_at LIMIT ?`,
  );
  const removals = [
    "DELETE FROM events WHERE sid = ?",
    ...RECORDS_OF.map((which) => `DELETE FROM records WHERE sid = ? AND ${which}`),
    "DELETE FROM submissions WHERE sid = ?",
  ].map((sql) => db.prepare<[number]>(sql));
  const remove = db.transaction((before: Instant, limit: number): string[] => {
    const old = erased.all(before, limit);
    for (const { sid } of old) for (const removal of removals) removal.run(sid);
    return old.map(({ submissionId }) => submissionId);
  });
  return {
    definitions: () => answer(() => definitions.all()),
    endedBefore: (before, { definition, limit }) => answer(() => ended.all(definition, before, limit)),
    removeErased: (before, limit) =>
      answer(() => {
        // Looking costs nothing; only what is found is worth the write lock.
        if (erased.get(before, 1) === undefined) return 0;
        const gone = remove.immediate(before, limit);
        for (const submissionId of gone) rows.forget(submissionId);
        return gone.length;
      }),
  };
}
