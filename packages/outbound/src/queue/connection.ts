import type { Address } from "../guard/create-guard.ts";
import type { Target } from "../guard/read-target.ts";

export interface Message {
  /** The delivery id; the same for every attempt, so receivers can deduplicate. */
  id: string;
  /** The queue, subject or stream. */
  name: string;
  body: string;
  tenant: string;
  intakeId: string;
  submissionId: string;
  submittedAt: number;
}

/** Connect to one of `addresses`, which were checked; use the target's host for certificates only. */
export interface Place {
  url: URL;
  target: Target;
  addresses: readonly Address[];
}

/** A connection to a queue server, shared by many messages. */
export interface QueueConnection {
  /** Resolves when the server has confirmed the message. A `Refusal` concerns this message; any other error ends the connection. */
  publish(message: Message, signal: AbortSignal): Promise<void>;
  /** Settles when the connection ends, for whatever reason. */
  ended: Promise<unknown>;
  close(): Promise<void>;
}

/** Rejects when the signal aborts, and leaves no socket behind. */
export type OpenConnection = (place: Place, signal: AbortSignal) => Promise<QueueConnection>;
