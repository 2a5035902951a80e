import { randomUUID } from "node:crypto";
import type { Wakeups } from "@formbridge/core";
import { createListener, type ListenerOptions } from "./listener.ts";

/** A notification is delayed by at most this, so that many writes share one. */
const GATHER_MS = 10;
/** PostgreSQL refuses payloads of 8000 bytes and more. */
const MAX_NOTICE = 7_500;

export interface SharedWakeups extends Wakeups {
  close(): Promise<void>;
}

/**
 * Wakes readers of this process at once, and those of other processes by notifications, batched and sent on a separate connection after
 * the commit: a NOTIFY inside the write would serialize all writes of the database.
 *
 *   notify ──▶ own readers
 *          └─▶ batched for a few ms ──NOTIFY──▶ other processes ──▶ their readers
 *
 * Notifications are lost while the connection is down. When it is back, all subscribers are woken and read what they missed.
 */
export function createPostgresWakeups(local: Wakeups, options: ListenerOptions): SharedWakeups {
  const self = randomUUID();
  const subscribed = new Map<string, number>();
  const gathered = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sent: Promise<void> = Promise.resolve();

  const listener = createListener(options, {
    heard(text) {
      const [sender, ...submissionIds] = text.split(" ");
      // This process has woken its own readers already.
      if (sender !== self) for (const submissionId of submissionIds) local.notify(submissionId);
    },
    connected() {
      for (const submissionId of subscribed.keys()) local.notify(submissionId);
      if (gathered.size > 0) sendSoon();
    },
  });

  async function send(): Promise<void> {
    const submissionIds = [...gathered];
    gathered.clear();
    for (const notice of noticesOf(submissionIds)) {
      if (await listener.say(`${self} ${notice}`)) continue;
      // Sent again when the connection is back. A duplicate is harmless.
      for (const submissionId of submissionIds) gathered.add(submissionId);
      return;
    }
  }

  function sendSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      sent = sent.then(send);
    }, GATHER_MS).unref();
  }

  return {
    notify(submissionId) {
      local.notify(submissionId);
      gathered.add(submissionId);
      sendSoon();
    },
    subscribe(submissionId, wake) {
      const stop = local.subscribe(submissionId, wake);
      count(subscribed, submissionId, 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        stop();
        count(subscribed, submissionId, -1);
      };
    },
    async close() {
      clearTimeout(timer);
      await sent.then(send);
      await listener.close();
    },
  };
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const next = (counts.get(name) ?? 0) + by;
  if (next === 0) counts.delete(name);
  else counts.set(name, next);
}

function noticesOf(submissionIds: Iterable<string>): string[] {
  const notices: string[] = [];
  for (const submissionId of submissionIds) {
    const last = notices.at(-1);
    if (last === undefined || last.length + submissionId.length >= MAX_NOTICE) notices.push(submissionId);
    else notices[notices.length - 1] = `${last} ${submissionId}`;
  }
  return notices;
}
