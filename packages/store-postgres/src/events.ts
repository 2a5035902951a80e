import { type EventLog, type Instant, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import { computed, eventOf, events, feedEventOf } from "@formbridge/store-sql";
import type { Database } from "./database.ts";
import { pick, sql, statement } from "./sql.ts";

// One row besides the events says whether the starting position exists. The page ends when it gets too large.
const READ = statement(
  "read_events",
  sql`WITH start AS MATERIALIZED (
      SELECT CASE WHEN $3::text IS NULL THEN 0 ELSE
        (SELECT e.position FROM ${events} AS e
          WHERE e.submission_id = $2 AND e.tenant = $1 AND e.event_id = $3 ORDER BY e.position DESC LIMIT 1)
      END AS position)
    SELECT ${computed<{ start: number | null }>("start.position AS start")}, ${pick(events, "page")}
      FROM start LEFT JOIN LATERAL (
        SELECT * FROM (
          SELECT e.*, row_number() OVER places AS place, sum(octet_length(e.payload)) OVER places AS size
            FROM (
              SELECT * FROM ${events}
               WHERE submission_id = $2 AND tenant = $1 AND position > start.position
                 AND stream = ANY ($4) AND ($5::text[] IS NULL OR type = ANY ($5))
               ORDER BY position LIMIT $6) AS e
          WINDOW places AS (ORDER BY e.position)) AS sized
         WHERE sized.place = 1 OR coalesce(sized.size, 0) <= $7) AS page ON true
     ORDER BY page.position`,
);

const FEED = statement(
  "feed",
  sql`SELECT ${computed<{ looked_to: number | null }>("f.looked_to")}, ${pick(events, "(f.page_event)")}
    FROM formbridge.feed($1, $2, $3, $4, $5, $6, $7, $8, $9) AS f`,
);

/** Both statements return one row without an event, in addition to the events or instead of them. */
const isEvent = (row: { position: number | null }): boolean => row.position !== null;
const isoOf = (at: Instant | undefined): string | null => (at === undefined ? null : toIso(at));

export function createEventLog(db: Database): EventLog {
  return {
    read: async ({ tenant, submissionId, afterEventId, streams, types }, limit) => {
      const values = [tenant, submissionId, afterEventId ?? null, streams, types ?? null, limit, MAX_PAGE_SIZE];
      const rows = await db.read(READ, values);
      return rows[0]?.start === null ? undefined : rows.filter(isEvent).map(eventOf);
    },
    feed: async ({ tenant, intakeIds, from, until, streams, types }, { after, limit }) => {
      const times = [isoOf(from), isoOf(until)];
      const values = [tenant, after, limit, MAX_PAGE_SIZE, streams, types ?? null, intakeIds ?? null, ...times];
      const rows = await db.read(FEED, values);
      const page = rows.filter(isEvent).map(feedEventOf);
      return { events: page, position: page.at(-1)?.position ?? rows.at(-1)?.looked_to ?? after };
    },
  };
}
