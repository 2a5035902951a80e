import {
  type ChainedEvent,
  type Change,
  type EventFilter,
  type EventLog,
  type Instant,
  MAX_PAGE_SIZE,
  toIso,
} from "@formbridge/core";
import { columnsOf, eventOf, events, eventToWrite, feedEventOf, submissions } from "@formbridge/store-sql";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { pick, prepareInsert, sql } from "./sql.ts";

/** The last position that was ever given to an event. */
export const LAST_POSITION = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)";

const OWN = columnsOf(events, "tenant", "submission_id", "intake_id", "position");
const EVENT = sql`${pick(submissions, "s", "tenant", "submission_id", "intake_id")}, ${pick(events, "e", "position", ...OWN)}`;

/** Appends an event to the log; only inside its transaction, so positions are in the order of commits. */
export function createEventWriter(db: Database): (sid: number, change: Change, event: ChainedEvent) => void {
  const insert = prepareInsert(db, events, { columns: OWN, own: ["sid"] });
  return (sid, change, event) => void insert(eventToWrite(change, event), sid);
}

/** Streams and types are passed as JSON arrays, so that one statement serves every filter. */
const WANTED = `e.stream IN (SELECT value FROM json_each(@streams))
  AND (@types IS NULL OR e.type IN (SELECT value FROM json_each(@types)))`;
const wantedOf = ({ streams, types }: EventFilter) => ({
  streams: JSON.stringify(streams),
  types: types === undefined ? null : JSON.stringify(types),
});

/** A page is bounded by its length and by its size; one event always fits. */
function takePage<Row extends { payload: string | null }>(rows: Iterable<Row>, limit: number): Row[] {
  const page: Row[] = [];
  let size = 0;
  for (const row of rows) {
    size += row.payload?.length ?? 0;
    if (page.length > 0 && size > MAX_PAGE_SIZE) break;
    page.push(row);
    if (page.length === limit) break;
  }
  return page;
}

const isoOf = (at: Instant | undefined): string | null => (at === undefined ? null : toIso(at));

/** A page of the feed reads at most this many events, however few of them match. */
const FEED_WINDOW = 20_000;

export function createEventLog(db: Database): EventLog {
  const lastPosition = db.prepare<[], number>(`SELECT ${LAST_POSITION}`).pluck();
  const sidOf = db
    .prepare<[string, string], number>("SELECT sid FROM submissions WHERE submission_id = ? AND tenant = ?")
    .pluck();
  // From the end: a reader who follows a submission wants what came after one of its last events.
  const positionOf = db
    .prepare<[number, string], number>(
      "SELECT position FROM events WHERE sid = ? AND event_id = ? ORDER BY position DESC LIMIT 1",
    )
    .pluck();
  const ofSubmission = db.prepare<[object], Row>(
    `SELECT ${EVENT.text} FROM events AS e CROSS JOIN submissions AS s ON s.sid = e.sid
     WHERE e.sid = @sid AND e.position > @after AND ${WANTED} ORDER BY e.position`,
  );
  const ofAll = db.prepare<[object], Row>(
    `SELECT ${EVENT.text} FROM events AS e NOT INDEXED CROSS JOIN submissions AS s ON s.sid = e.sid
     WHERE e.position > @after AND e.position <= @end AND s.tenant = @tenant AND ${WANTED}
       AND (@intakeIds IS NULL OR s.intake_id IN (SELECT value FROM json_each(@intakeIds)))
       AND (@from IS NULL OR e.ts >= @from) AND (@until IS NULL OR e.ts < @until)
     ORDER BY e.position`,
  );

  return {
    read: ({ tenant, submissionId, afterEventId, ...filter }, limit) =>
      answer(() => {
        const sid = sidOf.get(submissionId, tenant);
        if (sid === undefined) return afterEventId === undefined ? [] : undefined;
        const after = afterEventId === undefined ? 0 : positionOf.get(sid, afterEventId);
        if (after === undefined) return undefined;
        return takePage(ofSubmission.iterate({ sid, after, ...wantedOf(filter) }), limit).map(eventOf);
      }),
    feed: ({ tenant, intakeIds, from, until, ...filter }, { after, limit }) =>
      answer(() => {
        const end = Math.min(after + FEED_WINDOW, Math.max(after, lastPosition.get() ?? 0));
        const where = {
          tenant,
          after,
          end,
          intakeIds: intakeIds === undefined ? null : JSON.stringify(intakeIds),
          from: isoOf(from),
          until: isoOf(until),
          ...wantedOf(filter),
        };
        const page = takePage(ofAll.iterate(where), limit).map(feedEventOf);
        return { events: page, position: page.at(-1)?.position ?? end };
      }),
  };
}

type Row = NonNullable<(typeof EVENT)["result"]>;
