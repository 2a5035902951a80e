import type { Destination } from "@formbridge/contract";
import type { Courier } from "@formbridge/core";
import { type Callback, createCallbackCourier } from "./callback-courier.ts";
import { createGuard, type Resolve } from "./guard/create-guard.ts";
import { createQueueCourier } from "./queue/queue-courier.ts";
import { createWebhookCourier } from "./webhook/webhook-courier.ts";

export interface CourierOptions {
  /** Deliveries may go to private, loopback and link-local addresses. */
  allowPrivate?: boolean;
  /** How long one attempt may take in all. */
  timeoutMs?: number;
  /** How long a connection to a queue stays open for the next message. */
  idleMs?: number;
  /** The functions that destinations of kind `callback` name. */
  callbacks?: Readonly<Record<string, Callback>>;
  now?: () => number;
  /** How names become addresses; the system's way by default. */
  resolve?: Resolve;
}

const TIMEOUT_MS = 15_000;
const IDLE_MS = 60_000;

/** The courier for every kind of destination. */
export function createCourier(options: CourierOptions = {}): Courier {
  const { allowPrivate = false, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS, callbacks = {}, now = Date.now } = options;
  const guard = createGuard({ allowPrivate, ...(options.resolve && { resolve: options.resolve }) });
  const couriers: Record<Exclude<Destination["kind"], "store">, Courier> = {
    webhook: createWebhookCourier({ guard, timeoutMs, now }),
    queue: createQueueCourier({ guard, timeoutMs, idleMs }),
    callback: createCallbackCourier(callbacks, { timeoutMs }),
  };
  return {
    async send(parcel, signal) {
      const { kind } = parcel.destination;
      // Kept here from the start: nothing brings it anywhere.
      if (kind === "store") return { kind: "failed", final: true, error: "A submission to the store is not sent." };
      return couriers[kind].send(parcel, signal);
    },
    async close() {
      await Promise.all(Object.values(couriers).map((courier) => courier.close()));
    },
  };
}
