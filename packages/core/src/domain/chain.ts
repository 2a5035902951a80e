/**
 * The hash chain: the only place that computes it.
 *
 * A submission has three streams of events, each with a chain of its own. Each event carries the hash of the event before it in
 * its stream. The hash covers the envelope and salted digests of actor and payload, so a person's data can be erased (value and
 * salt) and the chain still verifies.
 *
 * The heads are part of the submission, and every commit raises its revision. So a commit that succeeds was chained on the heads
 * that were current, and stores write events as they are given.
 */
import type { EventActor, EventStream, JsonObject } from "@formbridge/contract";
import type { ChainedEvent, UnchainedEvent } from "./chained-event.ts";
import { canonicalJson, type Hash, sha256 } from "./hashing.ts";
import type { ChainHead, ChainHeads } from "./submission.ts";

const EMPTY_HEAD: ChainHead = { seq: 0, hash: "0".repeat(64) };
export const EMPTY_HEADS: ChainHeads = { submission: EMPTY_HEAD, token: EMPTY_HEAD, idempotency: EMPTY_HEAD };

export const saltedDigest = (salt: string, value: EventActor | JsonObject | null): Hash =>
  sha256(salt + canonicalJson(value));

/** Canonical JSON of what the hash covers, spelled out because its keys and their order never change. */
const hashedText = (event: Omit<ChainedEvent, "hash">): string =>
  `{"actorDigest":"${event.actorDigest}","eventId":"${event.eventId}","payloadDigest":"${event.payloadDigest}",` +
  `"prevHash":"${event.prevHash}","seq":${event.seq},"state":"${event.state}","stream":"${event.stream}",` +
  `"submissionId":"${event.submissionId}","ts":"${event.ts}","type":"${event.type}","version":${event.version}}`;

/** Appends events to their streams, in order. Returns them chained, and the heads after them. */
export function chainEvents(
  heads: ChainHeads,
  events: readonly UnchainedEvent[],
): { events: ChainedEvent[]; heads: ChainHeads } {
  const after: Record<EventStream, ChainHead> = { ...heads };
  const chained = events.map((event) => {
    const head = after[event.stream];
    const linked: ChainedEvent = { ...event, seq: head.seq + 1, prevHash: head.hash, hash: "" };
    linked.hash = sha256(hashedText(linked));
    after[event.stream] = { seq: linked.seq, hash: linked.hash };
    return linked;
  });
  return { events: chained, heads: after };
}

export interface BrokenLink {
  eventId: string;
  stream: string;
  seq: number;
  problem: string;
}

function brokenLink(event: ChainedEvent, head: ChainHead): string | undefined {
  if (event.seq !== head.seq + 1) return `seq is ${event.seq}, expected ${head.seq + 1}`;
  if (event.prevHash !== head.hash) return "prevHash is not the hash of the event before it";
  if (event.hash !== sha256(hashedText(event))) return "hash doesn't match the event's contents";
  if (!isRecorded(event.actor, event.actorSalt, event.actorDigest)) return "the actor is not the one that was recorded";
  if (!isRecorded(event.payload, event.payloadSalt, event.payloadDigest)) {
    return "the payload is not the one that was recorded";
  }
  return undefined;
}

/** Value and salt are erased together: without its salt a value could be replaced by any other. */
const isRecorded = (value: EventActor | JsonObject | null, salt: string | null, digest: Hash): boolean =>
  salt === null ? value === null : saltedDigest(salt, value) === digest;

/** Recomputes the chains of the given events, in order, and returns the first one that doesn't match. */
export function firstBrokenLink(events: Iterable<ChainedEvent>): BrokenLink | undefined {
  const heads = new Map<string, ChainHead>();
  for (const event of events) {
    const problem = brokenLink(event, heads.get(event.stream) ?? EMPTY_HEAD);
    if (problem !== undefined) return { eventId: event.eventId, stream: event.stream, seq: event.seq, problem };
    heads.set(event.stream, { seq: event.seq, hash: event.hash });
  }
  return undefined;
}
