import type { EventStream, EventType, SubmissionState } from "@formbridge/contract";
import { type ChainedEvent, type EventLog, type Instant, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import type { Database, Statement } from "./database.ts";

const COLUMNS = [
  "position",
  "intake_id",
  "event_id",
  "seq",
  "stream",
  "type",
  "submission_id",
  "ts",
  "state",
  "version",
  "actor",
  "payload",
  "actor_salt",
  "actor_digest",
  "payload_salt",
  "payload_digest",
  "prev_hash",
  "hash",
];

// One row more than the events: it tells whether the place to start from is known. The page ends where it gets too large.
const READ: Statement = {
  name: "read_events",
  text: `WITH start AS MATERIALIZED (
      SELECT CASE WHEN $3::text IS NULL THEN 0 ELSE
        (SELECT e.position FROM formbridge.events AS e
          WHERE e.tenant = $1 AND e.submission_id = $2 AND e.event_id = $3 ORDER BY e.position DESC LIMIT 1)
      END AS position)
    SELECT start.position AS start, page.*
    FROM start LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT found.*, row_number() OVER places AS place, sum(octet_length(found.payload)) OVER places AS size
        FROM (
          SELECT ${COLUMNS.join(", ")} FROM formbridge.events
          WHERE tenant = $1 AND submission_id = $2 AND position > start.position
            AND stream = ANY ($4) AND ($5::text[] IS NULL OR type = ANY ($5))
          ORDER BY position LIMIT $6) AS found
        WINDOW places AS (ORDER BY found.position)) AS sized
      WHERE sized.place = 1 OR coalesce(sized.size, 0) <= $7) AS page ON true
    ORDER BY page.position`,
};
const HEADS: Statement = {
  name: "audit_heads",
  text: `SELECT token_seq, token_hash, idem_seq, idem_hash FROM formbridge.submissions
    WHERE tenant = $1 AND submission_id = $2`,
};
const FEED: Statement = {
  name: "feed",
  text: `SELECT f.looked_to, ${COLUMNS.map((column) => `(f.page_event).${column}`).join(", ")}
    FROM formbridge.feed($1, $2, $3, $4, $5, $6, $7, $8, $9) AS f`,
};

interface EventColumns {
  position: number;
  intake_id: string;
  event_id: string;
  seq: number;
  stream: EventStream;
  type: EventType;
  submission_id: string;
  ts: string;
  state: SubmissionState;
  version: number;
  actor: string | null;
  payload: string | null;
  actor_salt: string | null;
  actor_digest: string;
  payload_salt: string | null;
  payload_digest: string;
  prev_hash: string;
  hash: string;
}
/** `position` is null in the row that is no event. */
type Row<Note> = Note & (EventColumns | { position: null });

interface HeadColumns {
  token_seq: number;
  token_hash: string;
  idem_seq: number;
  idem_hash: string;
}

const parsed = (json: string | null) => (json === null ? null : JSON.parse(json));

const eventOf = (columns: EventColumns): ChainedEvent => ({
  eventId: columns.event_id,
  seq: columns.seq,
  stream: columns.stream,
  type: columns.type,
  submissionId: columns.submission_id,
  ts: columns.ts,
  state: columns.state,
  version: columns.version,
  actor: parsed(columns.actor),
  payload: parsed(columns.payload),
  actorSalt: columns.actor_salt,
  actorDigest: columns.actor_digest,
  payloadSalt: columns.payload_salt,
  payloadDigest: columns.payload_digest,
  prevHash: columns.prev_hash,
  hash: columns.hash,
});

const isEvent = <Note>(row: Row<Note>): row is Note & EventColumns => row.position !== null;
const isoOf = (at: Instant | undefined): string | null => (at === undefined ? null : toIso(at));

export function createEventLog(db: Database): EventLog {
  return {
    read: async ({ tenant, submissionId, afterEventId, streams, types }, limit) => {
      const values = [tenant, submissionId, afterEventId ?? null, streams, types ?? null, limit, MAX_PAGE_SIZE];
      const rows = await db.read<Row<{ start: number | null }>>(READ, values);
      return rows[0]?.start === null ? undefined : rows.filter(isEvent).map(eventOf);
    },
    auditHeads: async ({ tenant, submissionId }) => {
      const [heads] = await db.read<HeadColumns>(HEADS, [tenant, submissionId]);
      return (
        heads && {
          tokenHead: { seq: heads.token_seq, hash: heads.token_hash },
          idempotencyHead: { seq: heads.idem_seq, hash: heads.idem_hash },
        }
      );
    },
    feed: async ({ tenant, intakeIds, from, until, streams, types }, { after, limit }) => {
      const times = [isoOf(from), isoOf(until)];
      const values = [tenant, after, limit, MAX_PAGE_SIZE, streams, types ?? null, intakeIds ?? null, ...times];
      const rows = await db.read<Row<{ looked_to: number | null }>>(FEED, values);
      const events = rows.filter(isEvent).map((columns) => ({
        position: columns.position,
        intakeId: columns.intake_id,
        event: eventOf(columns),
      }));
      return { events, position: events.at(-1)?.position ?? rows.at(-1)?.looked_to ?? after };
    },
  };
}
