import { type EventFilter, type EventLog, type FeedEvent, type Instant, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import type { Database } from "better-sqlite3";
import { answer } from "./failures.ts";
import { headOf } from "./writer/chain.ts";
import { LAST_POSITION } from "./writer/events.ts";
import { idOf, openEvent, type RestingEvent, type Said } from "./writer/resting-events.ts";

/** What one commit told; `position` is that of its last event. */
type CommitColumns = [
  position: number,
  submissionId: string,
  intakeId: string,
  events: string,
  hashes: Buffer,
  said: string,
];
const COLUMNS = "c.position, s.submission_id, s.intake_id, c.events, c.hashes, c.said";

interface PlacedEvent extends FeedEvent {
  /** Of what its whole row says: no event is larger than that. */
  size: number;
}

/** Where the events of a row stand: the last one at the row's own position, the others just before it. */
const firstPosition = (last: number, events: readonly unknown[]): number => last - events.length + 1;

interface Wanted extends EventFilter {
  after: number;
  from?: string | undefined;
  until?: string | undefined;
}

function* wantedEvents(rows: Iterable<CommitColumns>, wanted: Wanted): Generator<PlacedEvent, void, undefined> {
  const wants = isWanted(wanted);
  for (const [last, submissionId, intakeId, texts, hashes, text] of rows) {
    const resting = JSON.parse(texts) as RestingEvent[];
    const first = firstPosition(last, resting);
    let said: Said[] | undefined;
    for (const [index, one] of resting.entries()) {
      const position = first + index;
      if (!wants(position, one)) continue;
      said ??= JSON.parse(text) as Said[];
      yield { position, intakeId, event: openEvent(one, index, { submissionId, hashes, said }), size: text.length };
    }
  }
}

const isWanted =
  ({ after, streams, types, from, until }: Wanted) =>
  (position: number, [stream, , , type, ts]: RestingEvent): boolean =>
    position > after &&
    streams.includes(stream) &&
    (types?.includes(type) ?? true) &&
    (from === undefined || ts >= from) &&
    (until === undefined || ts < until);

/** Words of which a row with a wanted event has at least one, as JSON: to look for a word takes a fraction of parsing. */
const wordsOf = ({ streams, types }: EventFilter): string =>
  JSON.stringify(types === undefined ? streams.map((stream) => `["${stream}",`) : types.map((type) => `"${type}"`));
const HAS_A_WORD = "EXISTS (SELECT 1 FROM json_each(@words) WHERE instr(c.events, value) > 0)";

/** A page is bounded by its length and by its size; one event always fits. */
function takePage(events: Iterable<PlacedEvent>, limit: number): PlacedEvent[] {
  const taken: PlacedEvent[] = [];
  let size = 0;
  for (const placed of events) {
    size += placed.size;
    if (taken.length > 0 && size > MAX_PAGE_SIZE) break;
    taken.push(placed);
    if (taken.length === limit) break;
  }
  return taken;
}

interface FeedParameters {
  start: number;
  end: number;
  tenant: string;
  words: string;
  intakeIds: string | null;
}

const isoOf = (at: Instant | undefined): string | undefined => (at === undefined ? undefined : toIso(at));

const FEED_WINDOW = 2_000;
const MAX_WINDOWS = 10;

export function createEventLog(db: Database): EventLog {
  const lastPosition = db.prepare<[], number>(`SELECT ${LAST_POSITION}`).pluck();
  // A window ends where a row does: of one that was cut, nobody would know whether its first events were seen.
  const lastWithin = db
    .prepare<[{ start: number; end: number }], number>(
      `SELECT coalesce((SELECT max(position) FROM commits WHERE position > @start AND position <= @end),
         (SELECT min(position) FROM commits WHERE position > @start), @start)`,
    )
    .pluck();
  const sidOf = db
    .prepare<[string, string], number>("SELECT sid FROM submissions WHERE submission_id = ? AND tenant = ?")
    .pluck();
  const headsOf = db
    .prepare<[string, string], [number, string, number, string]>(
      "SELECT token_seq, hex(token_hash), idem_seq, hex(idem_hash) FROM submissions WHERE submission_id = ? AND tenant = ?",
    )
    .raw();
  // From the end: whoever follows a submission asks for what came after one of its last events.
  const having = db
    .prepare<[number, string], [position: number, events: string]>(
      "SELECT position, events FROM commits WHERE sid = ? AND instr(events, ?) > 0 ORDER BY position DESC",
    )
    .raw();
  const ofSubmission = db
    .prepare<[{ sid: number; after: number; words: string }], CommitColumns>(
      `SELECT ${COLUMNS} FROM commits AS c CROSS JOIN submissions AS s ON s.sid = c.sid
       WHERE c.sid = @sid AND c.position > @after AND ${HAS_A_WORD} ORDER BY c.position`,
    )
    .raw();
  const ofAll = db
    .prepare<[FeedParameters], CommitColumns>(
      `SELECT ${COLUMNS} FROM commits AS c NOT INDEXED CROSS JOIN submissions AS s ON s.sid = c.sid
       WHERE c.position > @start AND c.position <= @end AND c.tenant = @tenant AND ${HAS_A_WORD}
         AND (@intakeIds IS NULL OR s.intake_id IN (SELECT value FROM json_each(@intakeIds)))
       ORDER BY c.position`,
    )
    .raw();

  function positionOf(sid: number, eventId: string): number | undefined {
    for (const [last, text] of having.iterate(sid, JSON.stringify(eventId))) {
      const resting = JSON.parse(text) as RestingEvent[];
      const index = resting.findIndex((event) => idOf(event) === eventId);
      if (index !== -1) return firstPosition(last, resting) + index;
    }
    return undefined;
  }

  return {
    read: ({ tenant, submissionId, afterEventId, ...filter }, limit) =>
      answer(() => {
        const sid = sidOf.get(submissionId, tenant);
        const after = afterEventId === undefined ? 0 : sid === undefined ? undefined : positionOf(sid, afterEventId);
        if (after === undefined) return undefined;
        if (sid === undefined) return [];
        const rows = ofSubmission.iterate({ sid, after, words: wordsOf(filter) });
        return takePage(wantedEvents(rows, { ...filter, after }), limit).map(({ event }) => event);
      }),
    auditHeads: ({ tenant, submissionId }) =>
      answer(() => {
        const found = headsOf.get(submissionId, tenant);
        if (found === undefined) return undefined;
        const [tokenSeq, tokenHash, idemSeq, idemHash] = found;
        return { tokenHead: headOf(tokenSeq, tokenHash), idempotencyHead: headOf(idemSeq, idemHash) };
      }),
    feed: ({ tenant, intakeIds, from, until, ...filter }, { after, limit }) =>
      answer(() => {
        const wanted = { ...filter, after, from: isoOf(from), until: isoOf(until) };
        const parameters = { tenant, words: wordsOf(filter), intakeIds: intakeIds ? JSON.stringify(intakeIds) : null };
        const last = lastPosition.get() ?? 0;
        // Window by window: what a tenant does not want of a long log is passed over in bounded steps.
        for (let start = after, looked = 0; ; looked += 1) {
          const end = lastWithin.get({ start, end: start + FEED_WINDOW }) ?? start;
          const page = takePage(wantedEvents(ofAll.iterate({ ...parameters, start, end }), wanted), limit);
          const events = page.map(({ position, intakeId, event }) => ({ position, intakeId, event }));
          if (events.length > 0) return { events, position: events.at(-1)?.position ?? end };
          if (end >= last || looked >= MAX_WINDOWS) return { events, position: end };
          start = end;
        }
      }),
  };
}
