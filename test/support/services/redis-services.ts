import { createClient } from "redis";
import type { Starter } from "./host.ts";
import { freePort } from "./programs.ts";
import { launchRedis, newPassword, type RedisServer } from "./start-redis.ts";

export const startRedis: Starter = async (folder) => {
  const password = newPassword();
  const server = await launchRedis({ folder, password });
  return { details: { url: `redis://:${password}@127.0.0.1:${server.port}` }, stop: server.kill };
};

interface Node extends RedisServer {
  /** The port for traffic between the servers. */
  bus: string;
}

const SLOTS = 16_384;
const MASTERS = 3;

export interface RedisCluster {
  url: string;
  servers: RedisServer[];
  stop(): Promise<void>;
}

/** Three masters that share the slots, without replicas. */
export async function launchRedisCluster(folder: string): Promise<RedisCluster> {
  const password = newPassword();
  const servers: Node[] = [];
  const stop = async () => void (await Promise.all(servers.map((server) => server.kill())));
  try {
    for (let made = 0; made < MASTERS; made += 1) {
      const bus = String(await freePort());
      const more = { "cluster-enabled": "yes", "cluster-port": bus, "cluster-node-timeout": "2000" };
      servers.push({ ...(await launchRedis({ folder, password, more })), bus });
    }
    await join(servers, password);
  } catch (error) {
    await stop();
    throw error;
  }
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return { url: `redis-cluster://:${password}@${hosts}`, servers, stop };
}

export const startRedisCluster: Starter = async (folder) => {
  const { url, stop } = await launchRedisCluster(folder);
  return { details: { url }, stop };
};

async function join(servers: readonly Node[], password: string): Promise<void> {
  const clients = servers.map(({ port }) => createClient({ url: `redis://:${password}@127.0.0.1:${port}` }));
  await Promise.all(clients.map((client) => client.connect()));
  const ask = (node: number, ...words: string[]): Promise<string> =>
    clients[node]?.sendCommand(["CLUSTER", ...words]) as Promise<string>;
  for (const [node] of clients.entries()) {
    const edge = (of: number): number => Math.floor((SLOTS * of) / MASTERS);
    await ask(node, "SET-CONFIG-EPOCH", String(node + 1));
    await ask(node, "ADDSLOTSRANGE", String(edge(node)), String(edge(node + 1) - 1));
  }
  for (const { port, bus } of servers.slice(1)) await ask(0, "MEET", "127.0.0.1", String(port), bus);
  const deadline = Date.now() + 20_000;
  const isReady = (state: string) => state.includes("cluster_state:ok") && state.includes(`known_nodes:${MASTERS}`);
  while (!(await Promise.all(clients.map((_, node) => ask(node, "INFO")))).every(isReady)) {
    if (Date.now() > deadline) throw new Error("the Redis servers did not become a cluster");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const client of clients) client.destroy();
}
