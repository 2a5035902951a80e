import type { Courier } from "@formbridge/core";
import { type Callback, createCallbackCourier } from "./callback-courier.ts";
import { createGuard, type Resolve } from "./guard/create-guard.ts";
import { createQueueCourier } from "./queue/queue-courier.ts";
import { createWebhookCourier } from "./webhook/webhook-courier.ts";

export interface CourierOptions {
  /** Allows private, loopback and link-local addresses. */
  allowPrivate?: boolean;
  /** For one attempt. */
  timeoutMs?: number;
  /** How long an idle queue connection stays open. */
  idleMs?: number;
  /** Functions for destinations of kind `callback`, by name. */
  callbacks?: Readonly<Record<string, Callback>>;
  now?: () => number;
  /** Resolves host names; the system resolver by default. */
  resolve?: Resolve;
}

const TIMEOUT_MS = 15_000;
const IDLE_MS = 60_000;

/** Sends to every kind of destination. */
export function createCourier(options: CourierOptions = {}): Courier {
  const { allowPrivate = false, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS, callbacks = {}, now = Date.now } = options;
  const guard = createGuard({ allowPrivate, ...(options.resolve && { resolve: options.resolve }) });
  const couriers = {
    webhook: createWebhookCourier({ guard, timeoutMs, now }),
    queue: createQueueCourier({ guard, timeoutMs, idleMs }),
    callback: createCallbackCourier(callbacks, { timeoutMs }),
  };
  return {
    async send({ destination, ...rest }, signal) {
      switch (destination.kind) {
        case "webhook":
          return await couriers.webhook.send({ ...rest, destination }, signal);
        case "queue":
          return await couriers.queue.send({ ...rest, destination }, signal);
        case "callback":
          return await couriers.callback.send({ ...rest, destination }, signal);
        case "store":
          return { kind: "failed", final: true, error: "A submission to the store is not sent." };
      }
    },
    serves: (destination) => destination.kind !== "callback" || Object.hasOwn(callbacks, destination.name),
    async close() {
      await Promise.all(Object.values(couriers).map((courier) => courier.close()));
    },
  };
}
