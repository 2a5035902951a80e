import { randomUUID } from "node:crypto";
import type { Wakeups } from "@formbridge/core";
import type { Redis } from "./redis.ts";

/** The most that this delays readers in other processes; many writes within it share one message. */
const GATHER_MS = 5;

export interface RedisWakeups extends Wakeups {
  /** Sends what is pending and unsubscribes. */
  close(): Promise<void>;
}

/**
 * Notifies readers in this process at once, and those in other processes by messages.
 *
 *   notify ──▶ own readers
 *          └─▶ collected for a few ms ──PUBLISH──▶ other processes ──▶ their readers
 *
 * A lost message only causes a delay: once the connection is back everyone is woken and reads what they missed.
 */
export function createRedisWakeups(local: Wakeups, redis: Redis): RedisWakeups {
  const self = randomUUID();
  const channel = redis.channel("events");
  const subscribed = new Map<string, number>();
  const gathered = new Set<string>();
  let sending: NodeJS.Timeout | undefined;

  const stopListening = redis.listen(channel, {
    hear(message) {
      const [sender, ...submissionIds] = message.split(" ");
      // This process has already notified its own readers.
      if (sender === self) return;
      for (const submissionId of submissionIds) local.notify(submissionId);
    },
    missed() {
      for (const submissionId of [...subscribed.keys()]) local.notify(submissionId);
    },
  });

  async function send(): Promise<void> {
    clearTimeout(sending);
    sending = undefined;
    if (gathered.size === 0) return;
    const message = [self, ...gathered].join(" ");
    gathered.clear();
    await redis.publish(channel, message).catch(() => {});
  }

  return {
    notify(submissionId) {
      local.notify(submissionId);
      gathered.add(submissionId);
      sending ??= setTimeout(() => void send(), GATHER_MS).unref();
    },
    subscribe(submissionId, wake) {
      const stop = local.subscribe(submissionId, wake);
      subscribed.set(submissionId, (subscribed.get(submissionId) ?? 0) + 1);
      let stopped = false;
      return () => {
        if (stopped) return;
        stopped = true;
        stop();
        const left = (subscribed.get(submissionId) ?? 1) - 1;
        if (left === 0) subscribed.delete(submissionId);
        else subscribed.set(submissionId, left);
      };
    },
    async close() {
      stopListening();
      await send();
    },
  };
}
