import type { EventActor, EventStream, EventType, JsonObject, SubmissionState } from "@formbridge/contract";
import type { Hash } from "./hashing.ts";

export interface ChainedEvent {
  eventId: string;
  seq: number;
  stream: EventStream;
  type: EventType;
  submissionId: string;
  /** ISO 8601; the hash covers this text. */
  ts: string;
  state: SubmissionState;
  version: number;
  actor: EventActor | null;
  payload: JsonObject | null;
  /** null once the value was erased. */
  actorSalt: string | null;
  actorDigest: Hash;
  payloadSalt: string | null;
  payloadDigest: Hash;
  prevHash: Hash;
  hash: Hash;
}

/** An event without its place in the chain yet. */
export type UnchainedEvent = Omit<ChainedEvent, "seq" | "prevHash" | "hash">;
