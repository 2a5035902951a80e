import { randomUUID } from "node:crypto";
import type { Wakeups } from "@formbridge/core";
import type { Redis } from "./redis.ts";

/** Readers elsewhere wait no longer than this for a notice; writers pay for one notice, however many they are. */
const GATHER_MS = 5;

export interface RedisWakeups extends Wakeups {
  /** Sends what was gathered, and hears no more. */
  close(): Promise<void>;
}

/**
 * Wakes readers of this process at once, and those of other processes by messages.
 *
 *   notify ──▶ own readers
 *          └─▶ gathered for a few ms ──PUBLISH──▶ other processes ──▶ their readers
 *
 * A message that is lost only delays: everybody is woken when the connection is back, and reads what came meanwhile.
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
      // This process has told its own readers already.
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
