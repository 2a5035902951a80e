import type { Destination } from "@formbridge/contract";
import type { Courier, OutgoingDelivery, Receipt } from "@formbridge/core";
import { Refusal, wordsOf } from "./failure.ts";
import { unlessAborted } from "./in-time.ts";

export interface SendSpec<D extends Destination> {
  /** For one send, including the connection. */
  timeoutMs: number;
  /** Subject of failure messages. Not the address: more people may read the message than may know the address. */
  about: string;
  /** May throw; should stop when the signal aborts. */
  deliver(outgoing: OutgoingDelivery<D>, signal: AbortSignal): Promise<Receipt>;
  /** Releases what is kept between sends. */
  release?(): Promise<void>;
}

/** What all couriers share: a timeout per send, failures as receipts, and a close that waits for sends in flight. */
export function createTimedCourier<D extends Destination>(spec: SendSpec<D>): Courier<D> {
  const { timeoutMs, about, deliver, release } = spec;
  const inFlight = new Set<Promise<Receipt>>();
  let closed = false;

  async function attempt(outgoing: OutgoingDelivery<D>, outer: AbortSignal): Promise<Receipt> {
    if (closed) return { kind: "failed", error: "The server is stopping." };
    if (outer.aborted) return { kind: "failed", error: `${about} failed: the attempt was interrupted.` };
    const timer = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([outer, timer]);
    try {
      return await unlessAborted(deliver(outgoing, signal), signal);
    } catch (error) {
      const says = timer.aborted
        ? `it did not respond within ${timeoutMs} ms`
        : outer.aborted
          ? "the attempt was interrupted"
          : wordsOf(error);
      const final = error instanceof Refusal && error.final;
      return { kind: "failed", error: `${about} failed: ${says}.`, ...(final && { final: true }) };
    }
  }

  return {
    send(outgoing, signal) {
      const sending = attempt(outgoing, signal);
      inFlight.add(sending);
      return sending.finally(() => inFlight.delete(sending));
    },
    async close() {
      closed = true;
      await Promise.allSettled(inFlight);
      await release?.();
    },
  };
}
