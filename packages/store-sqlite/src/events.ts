import type { EventStream, EventType, SubmissionState } from "@formbridge/contract";
import { type ChainedEvent, type EventLog, type Instant, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";

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
];
const COLUMNS = `position, event_id, seq, stream, type, submission_id, ts, state, version, actor, payload, actor_salt, actor_digest,
  payload_salt, payload_digest, prev_hash, hash`;

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

export interface EventOwner {
  sid: number;
  tenant: string;
  intakeId: string;
}

/** Appends to the log for a commit; only inside its transaction, which gives positions in the order of commits. */
export function createEventWriter(db: Database): (owner: EventOwner, event: ChainedEvent) => void {
  const insert = db.prepare(
    `INSERT INTO events (sid, tenant, intake_id, submission_id, stream, seq, event_id, type, ts, state, version, actor, payload,
       actor_salt, actor_digest, payload_salt, payload_digest, prev_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ sid, tenant, intakeId }, event) => {
    insert.run(
      sid,
      tenant,
      intakeId,
      event.submissionId,
      event.stream,
      event.seq,
      event.eventId,
      event.type,
      event.ts,
      event.state,
      event.version,
      event.actor === null ? null : JSON.stringify(event.actor),
      event.payload === null ? null : JSON.stringify(event.payload),
      event.actorSalt,
      event.actorDigest,
      event.payloadSalt,
      event.payloadDigest,
      event.prevHash,
      event.hash,
    );
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
      "SELECT token_seq, token_hash, idem_seq, idem_hash FROM submissions WHERE submission_id = ? AND tenant = ?",
    )
    .raw();
  // From the end: whoever follows a submission asks for what came after one of its last events.
  const positionOf = db
    .prepare<[number, string], number>(
      "SELECT position FROM events WHERE sid = ? AND event_id = ? ORDER BY position DESC LIMIT 1",
    )
    .pluck();
  const chosen = `stream IN (SELECT value FROM json_each(@streams))
    AND (@types IS NULL OR type IN (SELECT value FROM json_each(@types)))`;
  const ofSubmission = db
    .prepare<[{ sid: number; after: number; streams: string; types: string | null; limit: number }], EventColumns>(
      `SELECT ${COLUMNS} FROM events WHERE sid = @sid AND position > @after AND ${chosen} ORDER BY position LIMIT @limit`,
    )
    .raw();
  const ofAll = db
    .prepare<[FeedParameters], EventColumns>(
      `SELECT ${COLUMNS} FROM events NOT INDEXED
       WHERE position > @after AND position <= @end AND tenant = @tenant AND ${chosen}
         AND (@intakeIds IS NULL OR intake_id IN (SELECT value FROM json_each(@intakeIds)))
         AND (@from IS NULL OR ts >= @from) AND (@until IS NULL OR ts < @until)
       ORDER BY position LIMIT @limit`,
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
        return {
          tokenHead: { seq: tokenSeq, hash: tokenHash },
          idempotencyHead: { seq: idemSeq, hash: idemHash },
        };
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
          const events = rows.map((columns) => ({ position: columns[0], event: eventOf(columns) }));
          if (events.length > 0) return { events, position: events.at(-1)?.position ?? end };
          if (end >= last || looked >= MAX_WINDOWS) return { events, position: Math.max(end, after) };
          start = end;
        }
      }),
  };
}
