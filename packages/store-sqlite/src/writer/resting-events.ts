/**
 * How events rest. What one commit tells is one row with three parts, each with something of every event, in their order:
 *
 *   events   a JSON array of [stream, seq, eventId, type, ts, state, version]: what they are found by
 *   hashes   as bytes, prevHash · hash · actorDigest · payloadDigest
 *   said     a JSON array of [actor, actorSalt, payload, payloadSalt]: what an erasure takes
 */
import type { EventStream, EventType, SubmissionState } from "@formbridge/contract";
import type { AuditEvent, ChainedEvent } from "@formbridge/core";

export type RestingEvent = [
  stream: EventStream,
  seq: number,
  eventId: string,
  type: EventType,
  ts: string,
  state: SubmissionState,
  version: number,
];

export type Said = [
  actor: ChainedEvent["actor"],
  actorSalt: string | null,
  payload: ChainedEvent["payload"],
  payloadSalt: string | null,
];
export const ERASED: Said = [null, null, null, null];

/** The parts of a row as they are put together: texts with commas between the events, and hashes in hex. */
export interface RestingTexts {
  count: number;
  events: string;
  hashes: string;
  said: string;
}

export const NO_EVENTS: RestingTexts = { count: 0, events: "", hashes: "", said: "" };

export function withEvent(before: RestingTexts, event: Omit<RestingTexts, "count">): RestingTexts {
  const comma = before.count === 0 ? "" : ",";
  return {
    count: before.count + 1,
    events: before.events + comma + event.events,
    hashes: before.hashes + event.hashes,
    said: before.said + comma + event.said,
  };
}

/** `told`: what `toldText` says of it, which is known before its place in the chain is. */
export const textOf = ({ stream, seq }: Pick<ChainedEvent, "stream" | "seq">, told: string): string =>
  `["${stream}",${seq},${told}]`;

/** Ids, types, times and salts are our own words, with nothing in them to escape. */
export const toldText = ({ eventId, type, ts, state, version }: AuditEvent): string =>
  `"${eventId}","${type}","${ts}","${state}",${version}`;

export const saidText = ({ actor, actorSalt, payload, payloadSalt }: AuditEvent): string =>
  `[${JSON.stringify(actor)},${quoted(actorSalt)},${JSON.stringify(payload)},${quoted(payloadSalt)}]`;

const quoted = (word: string | null): string => (word === null ? "null" : `"${word}"`);

const HASH_BYTES = 32;
const HASHES_EACH = 4;

/** One event of a row, whole. `index`: its place in the row. */
export function openEvent(
  event: RestingEvent,
  index: number,
  row: { submissionId: string; hashes: Buffer; said: readonly Said[] },
): ChainedEvent {
  const hashAt = (place: number): string => {
    const at = (index * HASHES_EACH + place) * HASH_BYTES;
    return row.hashes.toString("hex", at, at + HASH_BYTES);
  };
  const [stream, seq, eventId, type, ts, state, version] = event;
  const [actor, actorSalt, payload, payloadSalt] = row.said[index] ?? ERASED;
  return {
    eventId,
    seq,
    stream,
    type,
    submissionId: row.submissionId,
    ts,
    state,
    version,
    actor,
    payload,
    actorSalt,
    actorDigest: hashAt(2),
    payloadSalt,
    payloadDigest: hashAt(3),
    prevHash: hashAt(0),
    hash: hashAt(1),
  };
}

export const idOf = (event: RestingEvent): string => event[2];
