import type { Address } from "../guard/create-guard.ts";
import type { Target } from "../guard/read-target.ts";

export interface Message {
  /** The delivery's id: the same each time, so that a receiver knows a message it has seen. */
  id: string;
  /** The queue, subject or stream. */
  name: string;
  body: string;
  tenant: string;
  intakeId: string;
  submissionId: string;
  submittedAt: number;
}

/** Where to connect: the target's host is for certificates, its addresses are what may be connected to. */
export interface Place {
  url: URL;
  target: Target;
  addresses: readonly Address[];
}

/** A connection to a queue server, for many messages. */
export interface Line {
  /** Resolves when the server has the message. A Refusal is the server's answer to this message; any other error ends the line. */
  publish(message: Message, signal: AbortSignal): Promise<void>;
  /** Settles when the connection is over, for whatever reason. */
  ended: Promise<unknown>;
  close(): Promise<void>;
}

/** Rejects when the signal aborts, and leaves no socket behind. */
export type OpenLine = (place: Place, signal: AbortSignal) => Promise<Line>;
