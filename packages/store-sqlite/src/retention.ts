import type { Change, Hash, Instant, Retention } from "@formbridge/core";
import { dueOf, ERASED_RECORD, events as eventRows, eventToWrite, records, submissions } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { assign, boundValues, pick, prepare, sql } from "./sql.ts";
import type { Writer } from "./writer.ts";

const ERASED_COLUMNS = ["fingerprint", "principal", "answer", "answer_by"] as const;
const REDACTED = ["actor", "actor_salt", "payload", "payload_salt"] as const;

/** Erases what belongs to a submission beside its row; only inside a commit's transaction, after its events were appended. */
export function createEraser(db: Database): (sid: number, change: Change) => void {
  const eraseEvents = db.prepare(
    `UPDATE events SET actor = NULL, actor_salt = NULL, payload = NULL, payload_salt = NULL
     WHERE sid = ? AND event_id NOT IN (SELECT value FROM json_each(?))`,
  );
  const forgetTokens = db.prepare("DELETE FROM tokens WHERE sid = ?");
  const forgetHandoffs = db.prepare("DELETE FROM handoffs WHERE submission_id = ?");
  const forgetLinks = db.prepare("DELETE FROM review_links WHERE submission_id = ?");
  const eraseRecords = db.prepare(`UPDATE records SET ${assign(records, ...ERASED_COLUMNS)} WHERE sid = ?`);
  const redact = db.prepare(`UPDATE events SET ${assign(eventRows, ...REDACTED)} WHERE sid = ? AND event_id = ?`);
  return (sid, change) => {
    const { submissionId } = change.row.submission;
    if (change.erase === true) {
      eraseEvents.run(sid, JSON.stringify(change.events.map(({ eventId }) => eventId)));
      forgetTokens.run(sid);
    }
    for (const event of change.redact ?? []) {
      redact.run(...boundValues(REDACTED, eventToWrite(change, event)), sid, event.eventId);
    }
    forgetHandoffs.run(submissionId);
    forgetLinks.run(submissionId);
    eraseRecords.run(...boundValues(ERASED_COLUMNS, ERASED_RECORD), sid);
  };
}

const ENDED = "ended_at IS NOT NULL AND erased_at IS NULL";
// Skips from definition to definition in the index, however many submissions each has.
const DEFINITIONS = `WITH RECURSIVE found (definition) AS (
    SELECT min(definition) FROM submissions WHERE ${ENDED}
    UNION ALL
    SELECT (SELECT min(definition) FROM submissions WHERE ${ENDED} AND definition > found.definition)
    FROM found WHERE found.definition IS NOT NULL)
  SELECT lower(hex(definition)) FROM found WHERE definition IS NOT NULL`;

export function createRetention(db: Database, writer: Writer): Retention {
  const definitions = db.prepare<[], Hash>(DEFINITIONS).pluck();
  const ended = prepare(
    db,
    sql`SELECT ${pick(submissions, "s", "tenant", "submission_id")} FROM ${submissions} AS s
      WHERE ${ENDED} AND s.definition = unhex(?) AND s.ended_at < ? ORDER BY s.ended_at LIMIT ?`,
  );
  const erased = db
    .prepare<[Instant, number], number>("SELECT sid FROM submissions WHERE erased_at < ? ORDER BY erased_at LIMIT ?")
    .pluck();
  const removals = ["events", "records", "submissions"].map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE sid = ?`),
  );
  return {
    definitions: () => answer(() => definitions.all()),
    endedBefore: (before, { definition, limit }) => answer(() => ended.all(definition, before, limit).map(dueOf)),
    async removeErased(before, limit) {
      // Checking is cheap; take the write lock only if something was found.
      if ((await answer(() => erased.get(before, 1))) === undefined) return 0;
      return writer.write(() => {
        const sids = erased.all(before, limit);
        for (const sid of sids) for (const removal of removals) removal.run(sid);
        return sids.length;
      });
    },
  };
}
