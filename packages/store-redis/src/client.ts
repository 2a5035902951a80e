import type { RedisClientOptions } from "redis";
import type { RedisAddress } from "./address.ts";

type Package = typeof import("redis");
type Model = ReturnType<Package["createClient"]>;

export interface Driver {
  createClient(options: RedisClientOptions): ReturnType<Model["duplicate"]>;
  createCluster: Package["createCluster"];
}

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

interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** The parts of Redis we use, the same for one server and a cluster. */
export interface Commands {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: { expiration: { type: "PX"; value: number }; condition?: "NX" }): unknown;
  unlink(key: string): Promise<number>;
  eval(script: string, call: ScriptCall): Promise<unknown>;
  evalSha(sha: string, call: ScriptCall): Promise<unknown>;
  publish(channel: string, message: string): Promise<number>;
}

export interface Client {
  commands: Commands;
  /** Settles when the first connection is up; stays pending if none ever is. */
  connected: Promise<void>;
  /** The clocks of all servers that hold keys, in seconds and microseconds. */
  times(): Promise<[string, string][]>;
  /** Memory used by all servers, in bytes. */
  memory(): Promise<number>;
  destroy(): void;
}

/** The options of every connection. A call on a lost connection fails at once instead of queueing. */
export function connectionOptions(address: RedisAddress, node: { host: string; port: number }) {
  return {
    ...sharedOptions(address),
    socket: { ...sharedOptions(address).socket, ...node },
  };
}

export const CONNECT_TIMEOUT_MS = 2_000;
const MAX_PAUSE_MS = 500;

function sharedOptions({ username, password, database, tls }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    disableOfflineQueue: true,
    // Our own timeout covers the whole call; the driver's only the wait before it is sent.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, MAX_PAUSE_MS),
      ...(tls && { tls: true as const }),
    },
  } satisfies RedisClientOptions;
}

export type Connect = (driver: Driver, address: RedisAddress, onReady: () => void) => Client;

export const connectServer: Connect = ({ createClient }, address, onReady) => {
  const [node = { host: "", port: 0 }] = address.hosts;
  const client = createClient(connectionOptions(address, node));
  // Failing calls and the health check report it.
  client.on("error", () => {});
  client.on("ready", onReady);
  return {
    commands: client,
    connected: client.connect().then(() => {}),
    times: async () => [(await client.sendCommand(["TIME"])) as unknown as [string, string]],
    memory: async () => usedMemory(await client.sendCommand(["INFO", "memory"])),
    destroy: () => client.destroy(),
  };
};

const usedMemory = (info: unknown): number => Number(/^used_memory:(\d+)/m.exec(String(info))?.[1] ?? 0);

export const connectCluster: Connect = ({ createCluster }, address, onReady) => {
  const { commandOptions, ...defaults } = sharedOptions(address);
  const cluster = createCluster({
    rootNodes: address.hosts.map((node) => ({ ...defaults, socket: { ...defaults.socket, ...node } })),
    defaults,
    commandOptions,
  });
  cluster.on("error", () => {});
  let destroyed = false;
  async function connect(): Promise<void> {
    while (!destroyed) {
      try {
        await cluster.connect();
        return onReady();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, MAX_PAUSE_MS).unref());
      }
    }
  }
  async function times(): Promise<[string, string][]> {
    if (cluster.masters.length === 0) throw new Error("no server of the cluster is known yet");
    return Promise.all(
      cluster.masters.map(async (master) => {
        const node = await cluster.nodeClient(master);
        return (await node.sendCommand(["TIME"])) as unknown as [string, string];
      }),
    );
  }
  async function memory(): Promise<number> {
    const used = await Promise.all(
      cluster.masters.map(async (master) =>
        usedMemory(await (await cluster.nodeClient(master)).sendCommand(["INFO", "memory"])),
      ),
    );
    return used.reduce((sum, bytes) => sum + bytes, 0);
  }
  return {
    commands: cluster,
    connected: connect(),
    times,
    memory,
    destroy() {
      destroyed = true;
      if (cluster.isOpen) cluster.destroy();
    },
  };
};
