import type { TestProject } from "vitest/node";
import { openServiceHost } from "./host.ts";
import { startRedis, startRedisCluster } from "./redis-services.ts";
import { startNats } from "./start-nats.ts";
import { startPostgres } from "./start-postgres.ts";
import { startRabbitmq } from "./start-rabbitmq.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The socket where tests request servers. */
    services: string;
  }
}

/** Nothing is started until a test requests it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const host = await openServiceHost({
    postgres: startPostgres,
    redis: startRedis,
    "redis-cluster": startRedisCluster,
    rabbitmq: startRabbitmq,
    nats: startNats,
  });
  provide("services", host.socket);
  return host.close;
}
