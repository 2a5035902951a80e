import { join } from "node:path";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { until } from "../support/moves.ts";
import { accountFor, findProgram, freePort, untilPrinted } from "../support/services/programs.ts";

const CONFIG = join(import.meta.dirname, "../../examples/deploy/haproxy.cfg");
const NAMES = ["ONE", "TWO", "THREE"] as const;

/** Three servers on one PostgreSQL behind HAProxy, as in docs/how-to/deploy.md. */
export interface Fleet {
  url: string;
  env: Record<string, string>;
  instances: ServerProcess[];
  /** Starts one that was killed, at its old address, and waits until it is ready. */
  restart(index: number): Promise<void>;
  /** Stops all of them gracefully, and starts them with these settings added. */
  restartAll(settings?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

interface FleetOptions {
  adminKey: string;
  databaseUrl: string;
  /** Additional settings of all instances. */
  settings?: Record<string, string>;
  /** Additional environment of each instance. */
  each?: readonly Record<string, string>[];
}

export async function startFleet({ adminKey, databaseUrl, settings, each = [] }: FleetOptions): Promise<Fleet> {
  const folder = tempFolder();
  const env: Record<string, string> = {
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_INTAKES: folder.path,
    FORMBRIDGE_DATABASE_URL: databaseUrl,
    FORMBRIDGE_SECRET: "a secret of every test instance",
    FORMBRIDGE_ADMIN_KEY: adminKey,
    FORMBRIDGE_TRUST_PROXY: "1",
    FORMBRIDGE_RATE_LIMIT: "off",
    FORMBRIDGE_LOG_LEVEL: "debug",
    ...settings,
  };
  const ports = await Promise.all(NAMES.map(() => freePort()));
  const start = (index: number) =>
    startServerProcess({ ...env, ...each[index], FORMBRIDGE_PORT: String(ports[index]) });
  const instances = await Promise.all(NAMES.map((_, index) => start(index)));
  const bind = `127.0.0.1:${await freePort()}`;
  const addresses = Object.fromEntries(NAMES.map((name, index) => [`FORMBRIDGE_${name}`, `127.0.0.1:${ports[index]}`]));
  // As the user who runs the tests: others may not be able to read the file.
  const proxy = accountFor("root").start(findProgram("haproxy", "haproxy"), ["-db", "-f", CONFIG], {
    env: { PATH: process.env.PATH, HAPROXY_BIND: bind, ...addresses },
    lastSignal: "KILL",
  });
  const url = `http://${bind}`;
  async function stop(): Promise<void> {
    proxy.kill("SIGTERM");
    await Promise.all(instances.map((instance) => instance.stop()));
    folder.remove();
  }
  const up = async (): Promise<true | undefined> => {
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    return response?.status === 200 || undefined;
  };
  try {
    await Promise.race([until(up), untilPrinted(proxy, "never printed")]);
  } catch (error) {
    await stop();
    throw error;
  }
  async function restart(index: number): Promise<void> {
    instances[index] = await start(index);
  }
  return {
    url,
    env,
    instances,
    restart,
    async restartAll(changed = {}) {
      Object.assign(env, changed);
      await Promise.all(instances.map((instance) => instance.stop()));
      await Promise.all(instances.map((_, index) => restart(index)));
      await until(up);
    },
    stop,
  };
}
