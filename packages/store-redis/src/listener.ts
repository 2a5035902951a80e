import type { RedisAddress } from "./address.ts";
import { CONNECT_TIMEOUT_MS, connectionOptions, type Driver } from "./client.ts";
import { inTime } from "./in-time.ts";

const RECONNECT_MS = 250;
const MAX_RECONNECT_MS = 1_000;
const CHECK_EVERY_MS = 5_000;

export interface Listening {
  hear(message: string): void;
  /** Messages may have been lost until now. */
  missed(): void;
}

/** Hears messages on a connection of its own. */
export interface Listener {
  /** Answers how to stop. */
  listen(channel: string, listening: Listening): () => void;
  close(): void;
}

/**
 * Redis forgets whom it could not reach: while the connection is down messages are lost. Everybody is told so about once a
 * second, and when it is back, and looks. In a cluster any server passes on the messages of all: when one is gone, the next
 * one is asked.
 */
export function createListener(
  { createClient }: Driver,
  address: RedisAddress,
  { checkEveryMs = CHECK_EVERY_MS } = {},
): Listener {
  const channels = createChannels();
  let client: ReturnType<typeof open> | undefined;
  let attempt = 0;
  let failures = 0;
  let retrying: NodeJS.Timeout | undefined;
  const checking = setInterval(() => void check(), checkEveryMs).unref();
  let closed = false;

  function open() {
    const node = address.hosts[attempt % address.hosts.length] ?? { host: "", port: 0 };
    const { socket, ...options } = connectionOptions(address, node);
    return createClient({ ...options, socket: { ...socket, reconnectStrategy: false } });
  }

  async function connect(): Promise<void> {
    const fresh = open();
    client = fresh;
    fresh.on("error", () => lost(fresh));
    fresh.on("end", () => lost(fresh));
    try {
      await inTime(begin(fresh), CONNECT_TIMEOUT_MS);
      failures = 0;
    } catch {
      failures += 1;
      lost(fresh);
    }
    channels.missed();
  }

  async function begin(fresh: ReturnType<typeof open>): Promise<void> {
    await fresh.connect();
    await Promise.all(
      channels.names().map((channel) => fresh.subscribe(channel, (text) => channels.hear(channel, text))),
    );
  }

  /** A server that vanished says nothing, and neither does one that has nothing to say. */
  async function check(): Promise<void> {
    const asked = client;
    if (asked?.isReady !== true) return;
    await inTime(asked.ping(), checkEveryMs).catch(() => lost(asked));
  }

  function lost(which: typeof client): void {
    if (client !== which || which === undefined) return;
    client = undefined;
    attempt += 1;
    if (which.isOpen) which.destroy();
    if (!closed)
      retrying = setTimeout(() => void connect(), Math.min(RECONNECT_MS * 2 ** failures, MAX_RECONNECT_MS)).unref();
  }

  async function subscribe(channel: string, first: Listening): Promise<void> {
    const through = client;
    // When the connection does not stand yet, it subscribes to everything once it does.
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
      if (last?.isOpen) last.destroy();
    },
  };
}

/** Who listens to what. */
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
