import type { RedisAddress } from "./address.ts";
import { CONNECT_TIMEOUT_MS, type Connection, connectOnce, type Driver, drop } from "./connection.ts";
import { inTime } from "./in-time.ts";
import { connectPrimary } from "./sentinel.ts";

const RECONNECT_MS = 250;
const MAX_RECONNECT_MS = 1_000;
const CHECK_EVERY_MS = 5_000;

export interface Listening {
  hear(message: string): void;
  /** Called when messages may have been lost. */
  missed(): void;
}

/** Receives messages on a separate connection. */
export interface Listener {
  /** Returns how to unsubscribe. */
  listen(channel: string, listening: Listening): () => void;
  close(): void;
}

/**
 * Redis doesn't keep messages for subscribers that are disconnected. So while the connection is down, every listener is
 * told about once a second that it may have missed some, and again when it is back. In a cluster any server forwards
 * all messages: if one is gone, the next is used. With Sentinel, the primary is looked for again.
 */
export function createListener(
  driver: Driver,
  address: RedisAddress,
  { checkEveryMs = CHECK_EVERY_MS } = {},
): Listener {
  const channels = createChannels();
  let client: Connection | undefined;
  let attempt = 0;
  let failures = 0;
  let retrying: NodeJS.Timeout | undefined;
  const checking = setInterval(() => void check(), checkEveryMs).unref();
  let closed = false;

  function open(): Promise<Connection> {
    if (address.kind === "sentinel") return connectPrimary(driver, address);
    return connectOnce(driver, address, address.hosts[attempt % address.hosts.length] ?? { host: "", port: 0 });
  }

  async function connect(): Promise<void> {
    let fresh: Connection | undefined;
    try {
      fresh = await open();
      if (closed) return drop(fresh);
      await inTime(begin(fresh), CONNECT_TIMEOUT_MS);
      failures = 0;
    } catch {
      failures += 1;
      if (fresh === undefined) retry();
      else lost(fresh);
    }
    channels.missed();
  }

  async function begin(fresh: Connection): Promise<void> {
    client = fresh;
    fresh.on("error", () => lost(fresh));
    fresh.on("end", () => lost(fresh));
    await Promise.all(
      channels.names().map((channel) => fresh.subscribe(channel, (text) => channels.hear(channel, text))),
    );
  }

  /** Pings, because a server that vanished is as silent as one with nothing to say. */
  async function check(): Promise<void> {
    const asked = client;
    if (asked?.isReady !== true) return;
    await inTime(asked.ping(), checkEveryMs).catch(() => lost(asked));
  }

  function lost(which: Connection): void {
    if (client !== which) return;
    client = undefined;
    drop(which);
    retry();
  }

  function retry(): void {
    attempt += 1;
    if (!closed)
      retrying = setTimeout(() => void connect(), Math.min(RECONNECT_MS * 2 ** failures, MAX_RECONNECT_MS)).unref();
  }

  async function subscribe(channel: string, first: Listening): Promise<void> {
    const through = client;
    // If the connection isn't up yet, it subscribes to all channels once it is.
    if (through?.isReady !== true) return;
    try {
      await through.subscribe(channel, (text) => channels.hear(channel, text));
      first.missed();
    } catch {
      lost(through);
    }
  }

  void connect();
  return {
    listen(channel, listening) {
      const { isFirst, stop } = channels.add(channel, listening);
      if (isFirst) void subscribe(channel, listening);
      return stop;
    },
    close() {
      closed = true;
      clearTimeout(retrying);
      clearInterval(checking);
      const last = client;
      client = undefined;
      if (last !== undefined) drop(last);
    },
  };
}

/** The listeners of each channel. */
function createChannels() {
  const channels = new Map<string, Set<Listening>>();
  return {
    names: () => [...channels.keys()],
    add(channel: string, listening: Listening): { isFirst: boolean; stop(): void } {
      const isFirst = !channels.has(channel);
      const others = channels.get(channel) ?? new Set();
      channels.set(channel, others.add(listening));
      return { isFirst, stop: () => void others.delete(listening) };
    },
    hear(channel: string, message: string): void {
      for (const one of [...(channels.get(channel) ?? [])]) one.hear(message);
    },
    missed(): void {
      for (const all of channels.values()) for (const one of [...all]) one.missed();
    },
  };
}
