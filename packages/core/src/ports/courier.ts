import type { Destination } from "@formbridge/contract";
import type { Instant } from "../domain/instant.ts";

/** One submission to send to its destination. The same delivery id always has the same body, so receivers can deduplicate. */
export interface OutgoingDelivery<D extends Destination = Destination> {
  deliveryId: string;
  tenant: string;
  intakeId: string;
  submissionId: string;
  destination: D;
  /** JSON. */
  body: string;
  submittedAt: Instant;
  /** 1 for the first. */
  attempt: number;
  /** Sent along where the destination has headers, so that the receiver can continue the trace. */
  traceparent?: string;
  /** Secrets to sign with: during a rotation both the old and the new one. Never empty. */
  secrets: readonly string[];
}

/** The response of an HTTP receiver: its status, and the beginning of its body. */
interface ReceiverResponse {
  status?: number;
  answer?: string;
}

/** `final`: don't retry. `retryAfterMs`: the destination asked for this delay. */
export type Receipt = ReceiverResponse &
  ({ kind: "accepted" } | { kind: "failed"; error: string; final?: true; retryAfterMs?: number });

/** Sends submissions to their destinations. */
export interface Courier<D extends Destination = Destination> {
  /**
   * Returns `accepted` only once the destination has accepted the delivery. Never throws: a failure is a `Receipt` whose message
   * contains no secret. Returns within its timeout, or earlier when `signal` aborts.
   */
  send(outgoing: OutgoingDelivery<D>, signal: AbortSignal): Promise<Receipt>;
  /** False for a destination that this process can never reach. Absent: it serves every destination. */
  serves?(destination: Destination): boolean;
  /** Waits for sends in flight, then closes connections. */
  close(): Promise<void>;
}
