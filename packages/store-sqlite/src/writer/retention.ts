import type { Instant } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import type { ErasureColumns, FlatChange } from "./flat-change.ts";
import { ERASED, idOf, type RestingEvent, type Said } from "./resting-events.ts";

const RECORDS_OF = ["keep_after_end_ms IS NOT NULL", "keep_after_end_ms IS NULL"] as const;

/** What a commit that erases takes beside its row; only inside its transaction. */
export function createEraser(db: Database): (sid: number, change: FlatChange, erasure: ErasureColumns) => void {
  const row = db.prepare("UPDATE submissions SET created_by_id = ?, sealed_token = '', erased_at = ? WHERE sid = ?");
  const eraseEvents = createEventEraser(db);
  const tokens = db.prepare("DELETE FROM tokens WHERE sid = ?");
  const handoffs = db.prepare("DELETE FROM handoffs WHERE submission_id = ?");
  const links = db.prepare("DELETE FROM review_links WHERE submission_id = ?");
  const records = RECORDS_OF.map((which) =>
    db.prepare(
      `UPDATE records SET fingerprint = ?, principal = ?, answer = ?, answer_by = NULL WHERE sid = ? AND ${which}`,
    ),
  );
  return (sid, { submissionId, createdById }, [erasedAt, keptEvents, fingerprint, principal, nothing]) => {
    row.run(createdById, erasedAt, sid);
    eraseEvents(sid, JSON.parse(keptEvents) as string[]);
    tokens.run(sid);
    handoffs.run(submissionId);
    links.run(submissionId);
    for (const update of records) update.run(fingerprint, principal, nothing, sid);
  };
}

/** Takes actors and payloads out of a submission's events, but for those that are kept whole. */
function createEventEraser(db: Database): (sid: number, kept: readonly string[]) => void {
  const rows = db.prepare<[number], { position: number; events: string; said: string }>(
    "SELECT position, events, said FROM commits WHERE sid = ?",
  );
  const update = db.prepare("UPDATE commits SET said = ? WHERE position = ?");
  return (sid, kept) => {
    for (const { position, events, said } of rows.all(sid)) {
      const all = JSON.parse(said) as Said[];
      const left = (JSON.parse(events) as RestingEvent[]).map((event, index) =>
        kept.includes(idOf(event)) ? all[index] : ERASED,
      );
      update.run(JSON.stringify(left), position);
    }
  };
}

/** The submissions that were erased before a moment, the longest erased first. */
export function createErasedBefore(db: Database) {
  const erased = db.prepare<[number, number], { sid: number; submissionId: string }>(
    `SELECT sid, submission_id AS submissionId FROM submissions
     WHERE erased_at < ? ORDER BY erased_at LIMIT ?`,
  );
  return (before: Instant, limit: number) => erased.all(before, limit);
}

/** Removes what was erased before a moment, and answers which submissions that were. */
export function createRemover(db: Database): (before: Instant, limit: number) => string[] {
  const erasedBefore = createErasedBefore(db);
  const removals = [
    // The place of the log's last row must not be given out again: who follows the log has seen it.
    "UPDATE commits SET sid = 0, tenant = '', events = '[]', hashes = x'', said = '[]' WHERE sid = ? AND position = (SELECT max(position) FROM commits)",
    "DELETE FROM commits WHERE sid = ?",
    ...RECORDS_OF.map((which) => `DELETE FROM records WHERE sid = ? AND ${which}`),
    "DELETE FROM submissions WHERE sid = ?",
  ].map((sql) => db.prepare<[number]>(sql));
  return (before, limit) => {
    const old = erasedBefore(before, limit);
    for (const { sid } of old) for (const removal of removals) removal.run(sid);
    return old.map(({ submissionId }) => submissionId);
  };
}
