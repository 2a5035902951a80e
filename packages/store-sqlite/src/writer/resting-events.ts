/**
 * How events rest. What one commit tells is one row: a JSON array with this of each event,
 *
 *   [stream, seq, eventId, type, ts, state, version, actor, actorSalt, payload, payloadSalt]
 *
 * and beside it, as bytes, for each of them in the same order: prevHash · hash · actorDigest · payloadDigest.
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
  actor: ChainedEvent["actor"],
  actorSalt: string | null,
  payload: ChainedEvent["payload"],
  payloadSalt: string | null,
];

/** The events of a commit as they go into its row: their texts with commas between them, and their hashes in hex. */
export interface RestingTexts {
  count: number;
  texts: string;
  hashes: string;
}

export const NO_EVENTS: RestingTexts = { count: 0, texts: "", hashes: "" };

export function withEvent(before: RestingTexts, text: string, hashes: string): RestingTexts {
  const texts = before.count === 0 ? text : `${before.texts},${text}`;
  return { count: before.count + 1, texts, hashes: before.hashes + hashes };
}

/** `told`: what `toldText` says of it, which is known before its place in the chain is. */
export const textOf = ({ stream, seq }: Pick<ChainedEvent, "stream" | "seq">, told: string): string =>
  `["${stream}",${seq},${told}]`;

/** Ids, types, times and salts are our own words, with nothing in them to escape. */
export const toldText = (event: AuditEvent): string =>
  `"${event.eventId}","${event.type}","${event.ts}","${event.state}",${event.version},` +
  `${JSON.stringify(event.actor)},${quoted(event.actorSalt)},${JSON.stringify(event.payload)},${quoted(event.payloadSalt)}`;

const quoted = (word: string | null): string => (word === null ? "null" : `"${word}"`);

/** The same event without what it says of whom: its hash covers digests, so its chain still holds. */
export function erasedEvent(event: RestingEvent): RestingEvent {
  const [stream, seq, eventId, type, ts, state, version] = event;
  return [stream, seq, eventId, type, ts, state, version, null, null, null, null];
}

export const idOf = (event: RestingEvent): string => event[2];

const HASH_BYTES = 32;
const HASHES_EACH = 4;

/** The events of a row, whole. */
export function openEvents(texts: string, hashes: Buffer, submissionId: string): ChainedEvent[] {
  return (JSON.parse(texts) as RestingEvent[]).map((event, index) => {
    const hashAt = (place: number): string => {
      const at = (index * HASHES_EACH + place) * HASH_BYTES;
      return hashes.toString("hex", at, at + HASH_BYTES);
    };
    const [stream, seq, eventId, type, ts, state, version, actor, actorSalt, payload, payloadSalt] = event;
    return {
      eventId,
      seq,
      stream,
      type,
      submissionId,
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
  });
}
