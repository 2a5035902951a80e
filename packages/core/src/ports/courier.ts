import type { Destination } from "@formbridge/contract";
import type { Instant } from "../domain/instant.ts";

/** One submission on its way to its destination. The same delivery id always comes with the same body. */
export interface Parcel {
  deliveryId: string;
  tenant: string;
  intakeId: string;
  submissionId: string;
  destination: Destination;
  /** JSON text. */
  body: string;
  submittedAt: Instant;
  /** 1 for the first. */
  attempt: number;
  /** What a destination that checks signatures may know: a secret that is being replaced, and the one after it. Never empty. */
  secrets: readonly string[];
}

/** `final`: trying again is of no use. `retryAfterMs`: the destination asked for that much time. */
export type Receipt = { kind: "taken" } | { kind: "failed"; error: string; final?: true; retryAfterMs?: number };

/** Takes submissions to where they go. */
export interface Courier {
  /**
   * Answers `taken` only when the destination has taken responsibility. Every failure is a `Receipt`, with words that hold no
   * secret; it never takes longer than its time-out, and less when `signal` aborts.
   */
  send(parcel: Parcel, signal: AbortSignal): Promise<Receipt>;
  /** Lets go of connections, after what is being sent. */
  close(): Promise<void>;
}
