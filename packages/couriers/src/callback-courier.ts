import type { Courier, Parcel } from "@formbridge/core";
import { Refusal, TAKEN } from "./failure.ts";
import { createTimedCourier } from "./timed-courier.ts";

/** What a callback gets: the parcel, without what only the way to a destination needs. */
export interface CallbackDelivery extends Omit<Parcel, "destination" | "secrets"> {
  /** Aborts when nobody waits for the callback any more. */
  signal: AbortSignal;
}

/** Has taken the delivery when it returns, and has not when it throws. May be called twice with one delivery id. */
export type Callback = (delivery: CallbackDelivery) => Promise<void> | void;

export interface CallbackOptions {
  timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;

/** Hands submissions to functions of the program that embeds the server, by the destination's name. */
export function createCallbackCourier(
  callbacks: Readonly<Record<string, Callback>>,
  { timeoutMs = TIMEOUT_MS }: CallbackOptions = {},
): Courier {
  const known = new Map(Object.entries(callbacks));
  return createTimedCourier({
    timeoutMs,
    about: "The callback",
    async carry({ destination, secrets: _secrets, ...rest }, signal) {
      const callback = known.get(destination.name ?? "");
      if (callback === undefined) throw new Refusal("there is none of this name", "final");
      try {
        await callback({ ...rest, signal });
      } catch {
        // What it threw may quote anything; the program that threw it can log it.
        throw new Refusal("it threw an error");
      }
      return TAKEN;
    },
  });
}
