import type { CallbackDestination } from "@formbridge/contract";
import type { Courier, OutgoingDelivery } from "@formbridge/core";
import { ACCEPTED, Refusal } from "./failure.ts";
import { createTimedCourier } from "./timed-courier.ts";

/** What a callback receives: the delivery without destination and secrets. */
export interface CallbackDelivery extends Omit<OutgoingDelivery, "destination" | "secrets"> {
  /** Aborts on timeout and on shutdown. */
  signal: AbortSignal;
}

/** Returning accepts the delivery, throwing fails it. May be called again with the same delivery id. */
export type Callback = (delivery: CallbackDelivery) => Promise<void> | void;

/** Passes submissions to functions of the embedding program, found by the destination's name. */
export function createCallbackCourier(
  callbacks: Readonly<Record<string, Callback>>,
  { timeoutMs }: { timeoutMs: number },
): Courier<CallbackDestination> {
  const known = new Map(Object.entries(callbacks));
  return createTimedCourier({
    timeoutMs,
    about: "The callback",
    async deliver({ destination, secrets: _secrets, ...rest }, signal) {
      const callback = known.get(destination.name);
      if (callback === undefined) throw new Refusal("no callback has this name", "final");
      try {
        await callback({ ...rest, signal });
      } catch {
        // Don't quote the error: it may contain secrets. The embedding program can log it.
        throw new Refusal("it threw an error");
      }
      return ACCEPTED;
    },
  });
}
