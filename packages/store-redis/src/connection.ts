import type { RedisClientOptions } from "redis";
import type { RedisAddress, RedisNode } from "./address.ts";
import { inTime } from "./in-time.ts";

type Package = typeof import("redis");
type Model = ReturnType<Package["createClient"]>;

export interface Driver {
  createClient(options: RedisClientOptions): ReturnType<Model["duplicate"]>;
  createCluster: Package["createCluster"];
}

/** A connection to one server. */
export type Connection = ReturnType<Driver["createClient"]>;

let model: Model | undefined;

/**
 * Loaded when Redis is used, so that a server without it starts sooner. The package builds a class of hundreds of
 * commands for every set of options, which takes 100 ms; duplicates of a client share it.
 */
export async function loadDriver(): Promise<Driver> {
  const { createClient, createCluster } = await import("redis");
  const shared = model ?? createClient();
  model = shared;
  return { createClient: (options) => shared.duplicate(options), createCluster };
}

export const CONNECT_TIMEOUT_MS = 2_000;
export const MAX_PAUSE_MS = 500;

/** How long to wait before the next attempt to connect. */
export const pauseAfter = (failures: number): number => Math.min(50 * 2 ** failures, MAX_PAUSE_MS);

/** The options of every connection. A call on a lost connection fails at once instead of queueing. */
export function sharedOptions({ username, password, database, tls }: Omit<RedisAddress, "hosts">) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    disableOfflineQueue: true,
    // Our own timeout covers the whole call; the driver's only the wait before it is sent.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: pauseAfter,
      ...(tls && { tls: true as const }),
    },
  } satisfies RedisClientOptions;
}

/** A connection that is up, and that doesn't reconnect when it is lost. Rejects if that takes too long. */
export async function connectOnce(
  { createClient }: Driver,
  address: Omit<RedisAddress, "hosts">,
  node: RedisNode,
): Promise<Connection> {
  const { socket, ...options } = sharedOptions(address);
  const connection = createClient({ ...options, socket: { ...socket, ...node, reconnectStrategy: false } });
  // Failing calls report it.
  connection.on("error", () => {});
  try {
    await inTime(connection.connect(), CONNECT_TIMEOUT_MS);
    return connection;
  } catch (error) {
    drop(connection);
    throw error;
  }
}

/** Closes a connection, whatever state it is in. */
export function drop(connection: Connection): void {
  if (connection.isOpen) connection.destroy();
}
