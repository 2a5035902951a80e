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
  // The jobs of a killed worker are available again soon; a long run on a busy machine may be slow without being stuck.
  FORMBRIDGE_JOB_LEASE_MS: isLong ? "3000" : "1000",
  FORMBRIDGE_DELIVERY_TIMEOUT_MS: isLong ? "2700" : "900",
  FORMBRIDGE_JOB_POLL_MS: "20",
};

/** A process that delivers, and can be killed while it does. */
export interface Scene {
  url: string;
  /** Kills the process that runs the jobs, and starts another. */
  kill(): Promise<void>;
  end(): Promise<void>;
}

/** PostgreSQL: the server continues while workers die. */
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

/** Retries while the server or its store is down. Every write has an idempotency key, or needs none. */
export const patient = (url: string): Api => {
  const call = caller(url);
  const tryOnce = async (...args: Parameters<typeof call>) => {
    const reply = await call(...args).catch(() => undefined);
    return reply?.status === 503 ? undefined : reply;
  };
  return { adminKey: ADMIN_KEY, call: (...args) => until(() => tryOnce(...args), 120_000) };
};
