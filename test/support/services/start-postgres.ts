import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Starter } from "./host.ts";
import { type Account, accountFor, findProgram, freePort, untilEnded, untilPrinted } from "./programs.ts";

const USER = "formbridge";

export interface ClusterOptions {
  fsync: "on" | "off";
  /** Small segments make a full disk noticeable sooner. */
  walSegmentMb?: number;
  /** Mounts something at the data folder; returns the account that can see it. */
  mount?: (data: string) => Promise<Account>;
}

export interface Cluster {
  details: { url: string; clocks: string };
  /** Starts the server, on the same port each time. Resolves when it accepts connections. */
  run(): Promise<ChildProcess>;
}

/**
 * A complete PostgreSQL, on loopback only. Its default collation is a dictionary order, as on many machines: code that
 * relies on an order must specify it.
 */
export async function createCluster(folder: string, options: ClusterOptions): Promise<Cluster> {
  const { fsync, walSegmentMb = 16, mount } = options;
  const owner = accountFor("postgres");
  const data = join(folder, "data");
  const secret = join(folder, "password");
  const password = randomBytes(16).toString("hex");
  chmodSync(folder, 0o755);
  for (const name of [data, join(folder, "clocks")]) mkdirSync(name, { mode: 0o755 });
  writeFileSync(secret, password, { mode: 0o600 });
  for (const name of [data, secret]) owner.own(name);
  const account = (await mount?.(data)) ?? owner;
  const locale = ["--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en"];
  const access = [`--username=${USER}`, `--pwfile=${secret}`, "--auth=scram-sha-256"];
  const initdb = findProgram("initdb", "postgresql");
  const form = ["--no-sync", `--wal-segsize=${walSegmentMb}`, ...locale];
  await untilEnded(account.start(initdb, ["-D", data, ...form, ...access], { cwd: folder }));

  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "400",
    shared_buffers: "128MB",
    fsync,
    lc_messages: "C",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return {
    details: { url: `postgres://${USER}:${password}@127.0.0.1:${port}`, clocks: join(folder, "clocks") },
    async run() {
      const server = account.start(findProgram("postgres", "postgresql"), ["-D", data, ...flags], { cwd: folder });
      await untilPrinted(server, "database system is ready to accept connections");
      return server;
    },
  };
}

/** Immediate shutdown, as after a crash. */
export const stopImmediately = (server: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once("exit", () => resolve());
    server.kill("SIGQUIT");
  });

/** Without fsync, for speed: what was committed survives a crash of its processes, but not of the machine. */
export const startPostgres: Starter = async (folder) => {
  const { details, run } = await createCluster(folder, { fsync: "off" });
  const server = await run();
  return { details, stop: () => stopImmediately(server) };
};
