/**
 * The history anyone can verify. Each event carries the hash of the one before it in its stream; the hash covers the
 * envelope and salted digests of actor and payload, so that a person's data can be erased (value and salt) and the chain
 * still holds.
 */
import type { Actor, JsonObject } from "@formbridge/contract";
import type { AuditEvent, ChainedEvent } from "../ports/store.ts";
import { canonicalJson, type Hash, sha256 } from "./hashing.ts";
import type { ChainHead } from "./submission.ts";

export const EMPTY_HEAD: ChainHead = { seq: 0, hash: "0".repeat(64) };

export const saltedDigest = (salt: string, value: Actor | JsonObject | null): Hash =>
  sha256(salt + canonicalJson(value));

/**
 * The text that a hash covers: canonical JSON, written out because its keys and their order never change. Cut open where the
 * event's place in its chain goes, for stores that know it only inside their own transaction.
 */
export const textAroundPlace = (event: AuditEvent): { before: string; after: string } => ({
  before: `{"actorDigest":"${event.actorDigest}","eventId":"${event.eventId}","payloadDigest":"${event.payloadDigest}","prevHash":"`,
  after:
    `,"state":"${event.state}","stream":"${event.stream}","submissionId":"${event.submissionId}","ts":"${event.ts}",` +
    `"type":"${event.type}","version":${event.version}}`,
});

function hashedText(event: Omit<ChainedEvent, "hash">): string {
  const { before, after } = textAroundPlace(event);
  return `${before}${event.prevHash}","seq":${event.seq}${after}`;
}

/** Puts an event at the end of its chain. */
export function chainEvent(event: AuditEvent, head: ChainHead): ChainedEvent {
  const linked: ChainedEvent = { ...event, seq: head.seq + 1, prevHash: head.hash, hash: "" };
  linked.hash = sha256(hashedText(linked));
  return linked;
}

/** Where the streams that a store chains end. */
export interface AuditHeads {
  tokenHead: ChainHead;
  idempotencyHead: ChainHead;
}

/** Puts audit events at the ends of their streams. Without heads, the streams begin here. */
export function chainAudit(audit: readonly AuditEvent[], heads?: AuditHeads): AuditHeads & { events: ChainedEvent[] } {
  let { tokenHead, idempotencyHead } = heads ?? { tokenHead: EMPTY_HEAD, idempotencyHead: EMPTY_HEAD };
  const events = audit.map((event) => {
    if (event.stream === "submission") throw new TypeError("the submission stream is chained by the caller");
    const chained = chainEvent(event, event.stream === "token" ? tokenHead : idempotencyHead);
    const head = { seq: chained.seq, hash: chained.hash };
    if (event.stream === "token") tokenHead = head;
    else idempotencyHead = head;
    return chained;
  });
  return { events, tokenHead, idempotencyHead };
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
  if (event.hash !== sha256(hashedText(event))) return "hash does not cover what the event says";
  if (!isRecorded(event.actor, event.actorSalt, event.actorDigest)) return "the actor is not the one that was recorded";
  if (!isRecorded(event.payload, event.payloadSalt, event.payloadDigest)) {
    return "the payload is not the one that was recorded";
  }
  return undefined;
}

/** Value and salt are erased together: a value without its salt is anybody's. */
const isRecorded = (value: Actor | JsonObject | null, salt: string | null, digest: Hash): boolean =>
  salt === null ? value === null : saltedDigest(salt, value) === digest;

/** Re-computes the chains of the given events, in order, and names the first that does not hold. */
export function firstBrokenLink(events: Iterable<ChainedEvent>): BrokenLink | undefined {
  const heads = new Map<string, ChainHead>();
  for (const event of events) {
    const problem = brokenLink(event, heads.get(event.stream) ?? EMPTY_HEAD);
    if (problem !== undefined) return { eventId: event.eventId, stream: event.stream, seq: event.seq, problem };
    heads.set(event.stream, { seq: event.seq, hash: event.hash });
  }
  return undefined;
}
