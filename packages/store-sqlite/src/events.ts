import type { EventStream, EventType, SubmissionState } from "@formbridge/contract";
import { type ChainedEvent, type EventLog, type Instant, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { headOf } from "./writer/chain.ts";

type EventColumns = [
  position: number,
  eventId: string,
  seq: number,
  stream: EventStream,
  type: EventType,
  submissionId: string,
  ts: string,
  state: SubmissionState,
  version: number,
  actor: string | null,
  payload: string | null,
  actorSalt: string | null,
  actorDigest: string,
  payloadSalt: string | null,
  payloadDigest: string,
  prevHash: string,
  hash: string,
  intakeId: string,
];
const COLUMNS = `e.position, e.event_id, e.seq, e.stream, e.type, s.submission_id, e.ts, e.state, e.version, e.actor, e.payload,
  e.actor_salt, lower(hex(e.actor_digest)), e.payload_salt, lower(hex(e.payload_digest)), lower(hex(e.prev_hash)), lower(hex(e.hash)),
  s.intake_id`;

const parsed = (json: string | null) => (json === null ? null : JSON.parse(json));

function eventOf(columns: EventColumns): ChainedEvent {
  const [, eventId, seq, stream, type, submissionId, ts, state, version, actor, payload, ...proof] = columns;
  const [actorSalt, actorDigest, payloadSalt, payloadDigest, prevHash, hash] = proof;
  return {
    eventId,
    seq,
    stream,
    type,
    submissionId,
    ts,
    state,
    version,
    actor: parsed(actor),
    payload: parsed(payload),
    actorSalt,
    actorDigest,
    payloadSalt,
    payloadDigest,
    prevHash,
    hash,
  };
}

interface FeedParameters {
  after: number;
  end: number;
  tenant: string;
  streams: string;
  types: string | null;
  intakeIds: string | null;
  from: string | null;
  until: string | null;
  limit: number;
}

const listed = (values: readonly string[] | undefined): string | null =>
  values === undefined ? null : JSON.stringify(values);
const isoOf = (at: Instant | undefined): string | null => (at === undefined ? null : toIso(at));

const FEED_WINDOW = 5_000;
const MAX_WINDOWS = 10;
const PAYLOAD = 10;
const INTAKE_ID = 17;

/** Takes rows until they add up to a full page: a page is bounded by its size, not only by its length. */
function takeWhileSmall(rows: Iterable<EventColumns>): EventColumns[] {
  const taken: EventColumns[] = [];
  let size = 0;
  for (const columns of rows) {
    size += (columns[PAYLOAD] as string | null)?.length ?? 0;
    if (taken.length > 0 && size > MAX_PAGE_SIZE) break;
    taken.push(columns);
  }
  return taken;
}

export function createEventLog(db: Database): EventLog {
  const lastPosition = db.prepare<[], number>("SELECT max(position) FROM events").pluck();
  const sidOf = db
    .prepare<[string, string], number>("SELECT sid FROM submissions WHERE submission_id = ? AND tenant = ?")
    .pluck();
  const headsOf = db
    .prepare<[string, string], [number, string, number, string]>(
      "SELECT token_seq, hex(token_hash), idem_seq, hex(idem_hash) FROM submissions WHERE submission_id = ? AND tenant = ?",
    )
    .raw();
  // From the end: whoever follows a submission asks for what came after one of its last events.
  const positionOf = db
    .prepare<[number, string], number>(
      "SELECT position FROM events WHERE sid = ? AND event_id = ? ORDER BY position DESC LIMIT 1",
    )
    .pluck();
  const chosen = `e.stream IN (SELECT value FROM json_each(@streams))
    AND (@types IS NULL OR e.type IN (SELECT value FROM json_each(@types)))`;
  const ofSubmission = db
    .prepare<[{ sid: number; after: number; streams: string; types: string | null; limit: number }], EventColumns>(
      `SELECT ${COLUMNS} FROM events AS e CROSS JOIN submissions AS s ON s.sid = e.sid
       WHERE e.sid = @sid AND e.position > @after AND ${chosen} ORDER BY e.position LIMIT @limit`,
    )
    .raw();
  const ofAll = db
    .prepare<[FeedParameters], EventColumns>(
      `SELECT ${COLUMNS} FROM events AS e NOT INDEXED CROSS JOIN submissions AS s ON s.sid = e.sid
       WHERE e.position > @after AND e.position <= @end AND e.tenant = @tenant AND ${chosen}
         AND (@intakeIds IS NULL OR s.intake_id IN (SELECT value FROM json_each(@intakeIds)))
         AND (@from IS NULL OR e.ts >= @from) AND (@until IS NULL OR e.ts < @until)
       ORDER BY e.position LIMIT @limit`,
    )
    .raw();

  return {
    read: ({ tenant, submissionId, afterEventId, streams, types }, limit) =>
      answer(() => {
        const sid = sidOf.get(submissionId, tenant);
        const after =
          afterEventId === undefined ? 0 : sid === undefined ? undefined : positionOf.get(sid, afterEventId);
        if (after === undefined) return undefined;
        if (sid === undefined) return [];
        const parameters = { sid, after, streams: JSON.stringify(streams), types: listed(types), limit };
        return takeWhileSmall(ofSubmission.iterate(parameters)).map(eventOf);
      }),
    auditHeads: ({ tenant, submissionId }) =>
      answer(() => {
        const found = headsOf.get(submissionId, tenant);
        if (found === undefined) return undefined;
        const [tokenSeq, tokenHash, idemSeq, idemHash] = found;
        return { tokenHead: headOf(tokenSeq, tokenHash), idempotencyHead: headOf(idemSeq, idemHash) };
      }),
    feed: ({ tenant, intakeIds, from, until, streams, types }, { after, limit }) =>
      answer(() => {
        const filter = {
          tenant,
          streams: JSON.stringify(streams),
          types: listed(types),
          intakeIds: listed(intakeIds),
          from: isoOf(from),
          until: isoOf(until),
        };
        const last = lastPosition.get() ?? 0;
        // Window by window: what a tenant does not want of a long log is passed over in bounded steps.
        for (let start = after, looked = 0; ; looked += 1) {
          const end = Math.min(start + FEED_WINDOW, last);
          const rows = takeWhileSmall(ofAll.iterate({ ...filter, after: start, end, limit }));
          const events = rows.map((columns) => ({
            position: columns[0],
            intakeId: columns[INTAKE_ID],
            event: eventOf(columns),
          }));
          if (events.length > 0) return { events, position: events.at(-1)?.position ?? end };
          if (end >= last || looked >= MAX_WINDOWS) return { events, position: Math.max(end, after) };
          start = end;
        }
      }),
  };
}
