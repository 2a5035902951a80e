import { randomUUID } from "node:crypto";
import type { Wakeups } from "@formbridge/core";
import { Client, type Notification } from "pg";
import { connectionSettings, type PostgresOptions } from "./database.ts";

const CHANNEL = "formbridge_events";
/** Readers wait no longer than this for a notice; writers pay for one notice, however many they are. */
const GATHER_MS = 10;
const RECONNECT_MS = 500;
/** PostgreSQL takes less than 8000 bytes. */
const MAX_NOTICE = 7_500;
const NOTIFY = { name: "notify", text: `SELECT pg_notify('${CHANNEL}', $1)` };

export interface ListenerOptions extends Omit<PostgresOptions, "poolSize"> {
  gatherMs?: number;
  reconnectMs?: number;
}

export interface SharedWakeups extends Wakeups {
  close(): Promise<void>;
}

/**
 * Wakes readers of this process at once, and those of other processes by notifications, gathered and sent on a connection of
 * their own after the commit: a NOTIFY inside the write would make all writes of the database go one after the other.
 *
 *   notify ──▶ own readers
 *          └─▶ gathered for a few ms ──NOTIFY──▶ other processes ──▶ their readers
 *
 * While the connection is down notices are lost. Everybody is woken when it is back, and reads what came meanwhile.
 */
export function createPostgresWakeups(local: Wakeups, options: ListenerOptions): SharedWakeups {
  const { gatherMs = GATHER_MS, reconnectMs = RECONNECT_MS, ...connection } = options;
  const self = randomUUID();
  const subscribed = new Map<string, number>();
  const gathered = new Set<string>();
  let client: Client | undefined;
  let isListening = false;
  let sent: Promise<void> = Promise.resolve();
  let sending: NodeJS.Timeout | undefined;
  let retrying: NodeJS.Timeout | undefined;
  let closed = false;

  function hear({ payload = "" }: Notification): void {
    const [sender, ...submissionIds] = payload.split(" ");
    // This process has told its own readers already.
    if (sender === self) return;
    for (const submissionId of submissionIds) local.notify(submissionId);
  }

  async function connect(): Promise<void> {
    const fresh = new Client(connectionSettings(connection));
    fresh.on("error", () => {});
    fresh.on("end", () => lost(fresh));
    fresh.on("notification", hear);
    client = fresh;
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${CHANNEL}`);
    } catch {
      lost(fresh);
      return;
    }
    isListening = true;
    for (const submissionId of subscribed.keys()) local.notify(submissionId);
    if (gathered.size > 0) sendSoon();
  }

  function lost(which: Client): void {
    if (client !== which) return;
    client = undefined;
    isListening = false;
    void which.end().catch(() => {});
    if (closed) return;
    retrying = setTimeout(() => void connect(), reconnectMs).unref();
  }

  async function send(): Promise<void> {
    const sender = client;
    if (sender === undefined || !isListening) return;
    const submissionIds = [...gathered];
    gathered.clear();
    try {
      for (const notice of noticesOf(submissionIds)) await sender.query({ ...NOTIFY, values: [`${self} ${notice}`] });
    } catch {
      for (const submissionId of submissionIds) gathered.add(submissionId);
      lost(sender);
    }
  }

  function sendSoon(): void {
    sending ??= setTimeout(() => {
      sending = undefined;
      sent = sent.then(send);
    }, gatherMs).unref();
  }

  const ready = connect();
  return {
    notify(submissionId) {
      local.notify(submissionId);
      gathered.add(submissionId);
      sendSoon();
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
      closed = true;
      clearTimeout(retrying);
      clearTimeout(sending);
      await ready;
      await sent.then(send);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
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
