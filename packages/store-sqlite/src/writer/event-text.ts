/**
 * How an event rests. What one commit tells is one row: the texts of its events, with commas between them, in brackets.
 *
 *   [stream, seq, prevHash, hash, eventId, type, ts, state, version, actor, actorSalt, actorDigest, payload, payloadSalt, payloadDigest]
 *   └────── its place in the chain ┘  └────── told: known before its place is ─────────────────────────────────────────────────────┘
 */
import type { EventStream, EventType, SubmissionState } from "@formbridge/contract";
import type { AuditEvent, ChainedEvent, Hash } from "@formbridge/core";

export type RestingEvent = [
  stream: EventStream,
  seq: number,
  prevHash: Hash,
  hash: Hash,
  eventId: string,
  type: EventType,
  ts: string,
  state: SubmissionState,
  version: number,
  actor: ChainedEvent["actor"],
  actorSalt: string | null,
  actorDigest: Hash,
  payload: ChainedEvent["payload"],
  payloadSalt: string | null,
  payloadDigest: Hash,
];

type Place = Pick<ChainedEvent, "stream" | "seq" | "prevHash" | "hash">;

export const eventText = ({ stream, seq, prevHash, hash }: Place, told: string): string =>
  `["${stream}",${seq},"${prevHash}","${hash}",${told}]`;

/** Ids, types, times and hashes are our own words, with nothing in them to escape. */
export const toldText = (event: AuditEvent): string =>
  `"${event.eventId}","${event.type}","${event.ts}","${event.state}",${event.version},` +
  `${JSON.stringify(event.actor)},${quoted(event.actorSalt)},"${event.actorDigest}",` +
  `${JSON.stringify(event.payload)},${quoted(event.payloadSalt)},"${event.payloadDigest}"`;

const quoted = (word: string | null): string => (word === null ? "null" : `"${word}"`);

/** The same event without what it says of whom: its hash covers digests, so its chain still holds. */
export function erasedEvent(event: RestingEvent): RestingEvent {
  const erased: RestingEvent = [...event];
  erased[9] = erased[10] = erased[12] = erased[13] = null;
  return erased;
}

export const idOf = (event: RestingEvent): string => event[4];
