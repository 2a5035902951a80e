import { createClient } from "redis";
import type { RedisAddress } from "./address.ts";
import { connectionOptions } from "./client.ts";

const RECONNECT_MS = 250;

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
 * Redis forgets whom it could not reach: while the connection is down messages are lost. When it is back, everybody is told,
 * and looks. In a cluster any server passes on the messages of all: when one is gone, the next one is asked.
 */
export function createListener(address: RedisAddress): Listener {
  const channels = new Map<string, Set<Listening>>();
  let client: ReturnType<typeof open> | undefined;
  let attempt = 0;
  let retrying: NodeJS.Timeout | undefined;
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
      await fresh.connect();
      await Promise.all([...channels.keys()].map((channel) => fresh.subscribe(channel, (text) => hear(channel, text))));
    } catch {
      return lost(fresh);
    }
    for (const all of channels.values()) for (const one of [...all]) one.missed();
  }

  function lost(which: typeof client): void {
    if (client !== which || which === undefined) return;
    client = undefined;
    attempt += 1;
    if (which.isOpen) which.destroy();
    if (!closed) retrying = setTimeout(() => void connect(), RECONNECT_MS).unref();
  }

  function hear(channel: string, message: string): void {
    for (const one of [...(channels.get(channel) ?? [])]) one.hear(message);
  }

  async function subscribe(channel: string, first: Listening): Promise<void> {
    const through = client;
    // When the connection does not stand yet, it subscribes to everything once it does.
    if (through?.isReady !== true) return;
    try {
      await through.subscribe(channel, (text) => hear(channel, text));
      first.missed();
    } catch {
      lost(through);
    }
  }

  void connect();
  return {
    listen(channel, listening) {
      const others = channels.get(channel) ?? new Set();
      channels.set(channel, others.add(listening));
      if (others.size === 1) void subscribe(channel, listening);
      return () => void others.delete(listening);
    },
    close() {
      closed = true;
      clearTimeout(retrying);
      const last = client;
      client = undefined;
      if (last?.isOpen) last.destroy();
    },
  };
}
