import type { Courier, Parcel, Receipt } from "@formbridge/core";
import { Refusal, wordsOf } from "./failure.ts";
import { unlessAborted } from "./in-time.ts";

export interface Trip {
  /** How long one send may take in all. */
  timeoutMs: number;
  /** Whom the words of a failure are about. Not where it is: those who may read the words are more than those who may know that. */
  about: string;
  /** Brings the parcel there. May throw, and should stop when the signal aborts. */
  carry(parcel: Parcel, signal: AbortSignal): Promise<Receipt>;
  /** Lets go of what is held between two sends. */
  release?(): Promise<void>;
}

/** What all couriers share: one time-out for each send, failures as receipts, and a close that waits for what is being sent. */
export function createTimedCourier({ timeoutMs, about, carry, release }: Trip): Courier {
  const underWay = new Set<Promise<Receipt>>();
  let closed = false;

  async function attempt(parcel: Parcel, outer: AbortSignal): Promise<Receipt> {
    if (closed) return { kind: "failed", error: "The server is stopping." };
    if (outer.aborted) return { kind: "failed", error: `${about} failed: the attempt was interrupted.` };
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    try {
      return await unlessAborted(carry(parcel, signal), signal);
    } catch (error) {
      const says = timer.aborted
        ? `it did not answer within ${timeoutMs} ms`
        : outer.aborted
          ? "the attempt was interrupted"
          : wordsOf(error);
      const final = error instanceof Refusal && error.final;
      return { kind: "failed", error: `${about} failed: ${says}.`, ...(final && { final: true }) };
    }
  }

  return {
    send(parcel, signal) {
      const sending = attempt(parcel, signal);
      underWay.add(sending);
      return sending.finally(() => underWay.delete(sending));
    },
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
      await release?.();
    },
  };
}
