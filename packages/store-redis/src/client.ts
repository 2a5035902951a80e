import type { RedisAddress } from "./address.ts";
import { type Connection, type Driver, drop, MAX_PAUSE_MS, pauseAfter, sharedOptions } from "./connection.ts";
import { connectPrimary } from "./sentinel.ts";

interface ScriptCall {
  keys: string[];
  arguments: string[];
}

/** The parts of Redis we use, the same for one server, a cluster and Sentinel. */
export interface Commands {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: { expiration: { type: "PX"; value: number }; condition?: "NX" }): unknown;
  unlink(key: string): Promise<number>;
  eval(script: string, call: ScriptCall): Promise<unknown>;
  evalSha(sha: string, call: ScriptCall): Promise<unknown>;
  publish(channel: string, message: string): Promise<number>;
}

export interface Client {
  /** Throws while it is known that there is no server to send them to. */
  readonly commands: Commands;
  /** Settles when the first connection is up; stays pending if none ever is. */
  connected: Promise<void>;
  /** The clocks of all servers that hold keys, in seconds and microseconds. */
  times(): Promise<[string, string][]>;
  /** Memory used by all servers, in bytes. */
  memory(): Promise<number>;
  destroy(): void;
}

type Connect = (driver: Driver, address: RedisAddress, onReady: () => void) => Client;

const connectServer: Connect = ({ createClient }, address, onReady) => {
  const { socket, ...options } = sharedOptions(address);
  const client = createClient({ ...options, socket: { ...socket, ...address.hosts[0] } });
  // Failing calls and the health check report it.
  client.on("error", () => {});
  client.on("ready", onReady);
  return {
    commands: client,
    connected: client.connect().then(() => {}),
    times: async () => [await timeOf(client)],
    memory: () => memoryOf(client),
    destroy: () => client.destroy(),
  };
};

type Asked = Pick<Connection, "sendCommand">;

const timeOf = async (server: Asked) => (await server.sendCommand(["TIME"])) as unknown as [string, string];

async function memoryOf(server: Asked): Promise<number> {
  const info = String(await server.sendCommand(["INFO", "memory"]));
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
}

const connectCluster: Connect = ({ createCluster }, address, onReady) => {
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
        await pause(MAX_PAUSE_MS);
      }
    }
  }
  async function times(): Promise<[string, string][]> {
    if (cluster.masters.length === 0) throw new Error("no server of the cluster is known yet");
    return Promise.all(cluster.masters.map(async (master) => timeOf(await cluster.nodeClient(master))));
  }
  async function memory(): Promise<number> {
    const used = await Promise.all(cluster.masters.map(async (master) => memoryOf(await cluster.nodeClient(master))));
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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/** Looks for the primary again whenever the connection to it is lost. */
const connectThroughSentinel: Connect = (driver, address, onReady) => {
  let primary: Connection | undefined;
  let problem: unknown;
  let destroyed = false;
  async function connect(): Promise<void> {
    for (let failures = 0; !destroyed; failures += 1) {
      try {
        return use(await connectPrimary(driver, address));
      } catch (error) {
        problem = error;
        await pause(pauseAfter(failures));
      }
    }
  }
  function use(connection: Connection): void {
    if (destroyed) {
      drop(connection);
      return;
    }
    primary = connection;
    connection.on("end", () => lost(connection));
    connection.on("error", () => lost(connection));
    onReady();
  }
  function lost(connection: Connection): void {
    if (primary !== connection) return;
    primary = undefined;
    drop(connection);
    void connect();
  }
  function current(): Connection {
    if (primary !== undefined) return primary;
    const why = problem instanceof Error ? `: ${problem.message}` : "";
    throw new Error(`no connection to the primary "${address.primary}"${why}`, { cause: problem });
  }
  return {
    get commands() {
      return current();
    },
    connected: connect(),
    times: async () => [await timeOf(current())],
    memory: async () => memoryOf(current()),
    destroy() {
      destroyed = true;
      if (primary !== undefined) drop(primary);
    },
  };
};

export const CONNECT = {
  server: connectServer,
  cluster: connectCluster,
  sentinel: connectThroughSentinel,
} as const satisfies Record<RedisAddress["kind"], Connect>;
