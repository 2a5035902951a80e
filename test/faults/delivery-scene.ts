import { type ServerProcess, startServerProcess, startWorkerProcess, tempFolder } from "../support/child.ts";
import { caller } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { createDatabase } from "../support/services/postgres.ts";
import { ADMIN_KEY } from "./ledger-check.ts";

export const isLong = process.env.FORMBRIDGE_LONG === "1";

const BASE = {
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_SECRET: "a secret of every test instance",
  FORMBRIDGE_RATE_LIMIT: "off",
  FORMBRIDGE_LOG_LEVEL: "error",
  FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1",
  // What a killed worker held comes back soon; a long run, beside others, may be slow without being dead.
  FORMBRIDGE_JOB_LEASE_MS: isLong ? "3000" : "1000",
  FORMBRIDGE_DELIVERY_TIMEOUT_MS: isLong ? "2700" : "900",
  FORMBRIDGE_JOB_POLL_MS: "20",
};

/** Something that delivers, and can be killed while it does. */
export interface Scene {
  url: string;
  /** Kills whoever runs the jobs, and starts another. */
  kill(): Promise<void>;
  end(): Promise<void>;
}

/** PostgreSQL: the server goes on while workers die. */
export async function besideWorkers(): Promise<Scene> {
  const folder = tempFolder();
  const database = await createDatabase();
  const env = { ...BASE, FORMBRIDGE_DATA: folder.path, FORMBRIDGE_INTAKES: folder.path };
  const shared = { ...env, FORMBRIDGE_DATABASE_URL: database.url };
  const server = await startServerProcess({ ...shared, FORMBRIDGE_WORKER: "off" });
  let worker = await startWorkerProcess(shared);
  return {
    url: server.url,
    async kill() {
      await worker.kill();
      worker = await startWorkerProcess(shared);
    },
    async end() {
      await worker.kill();
      await server.stop();
      await database.drop();
      folder.remove();
    },
  };
}

/** Embedded: the server is the worker, and dies with it. */
export async function embedded(): Promise<Scene> {
  const folder = tempFolder();
  const env = { ...BASE, FORMBRIDGE_DATA: folder.path, FORMBRIDGE_INTAKES: folder.path, FORMBRIDGE_WORKER: "on" };
  let server: ServerProcess = await startServerProcess(env);
  const port = new URL(server.url).port;
  return {
    url: server.url,
    async kill() {
      await server.kill();
      server = await startServerProcess({ ...env, FORMBRIDGE_PORT: port });
    },
    async end() {
      await server.stop();
      folder.remove();
    },
  };
}

export type Api = { adminKey: string; call: ReturnType<typeof caller> };

/** Calls again while the server is away, or says that its store is. Every write has an idempotency key, or none is needed. */
export const patient = (url: string): Api => {
  const call = caller(url);
  const tryOnce = async (...args: Parameters<typeof call>) => {
    const reply = await call(...args).catch(() => undefined);
    return reply?.status === 503 ? undefined : reply;
  };
  return { adminKey: ADMIN_KEY, call: (...args) => until(() => tryOnce(...args), 120_000) };
};
