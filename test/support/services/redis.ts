import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchRedisCluster, type RedisCluster } from "./redis-services.ts";
import { service } from "./service.ts";
import { launchRedis, newPassword, type RedisServer, type RedisSettings } from "./start-redis.ts";

/** This test run's Redis. Tests share it, each with its own prefix. */
export const redisUrl = async (): Promise<string> => (await service("redis")).url ?? "";
export const redisClusterUrl = async (): Promise<string> => (await service("redis-cluster")).url ?? "";

let made = 0;
export function newPrefix(): string {
  made += 1;
  return `test_${process.pid}_${made}`;
}

export interface OwnRedis extends RedisServer {
  url: string;
  remove(): Promise<void>;
}

/** A Redis for one test, which may break it. Ends with the process that started it, at the latest. */
export async function ownRedis(more: RedisSettings["more"] = {}): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-redis-"));
  const password = newPassword();
  const server = await launchRedis({ folder, password, more });
  return {
    ...server,
    url: `redis://:${password}@127.0.0.1:${server.port}`,
    async remove() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface OwnRedisCluster extends RedisCluster {
  remove(): Promise<void>;
}

/** A cluster for one test, which may break it. */
export async function ownRedisCluster(): Promise<OwnRedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-redis-"));
  const cluster = await launchRedisCluster(folder);
  return {
    ...cluster,
    async remove() {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
