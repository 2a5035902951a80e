import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { until } from "../moves.ts";
import { type ClusterOptions, createCluster, stopImmediately } from "./start-postgres.ts";

/** A PostgreSQL for one test file, which may do what would disturb others. */
export interface OwnPostgres {
  url: string;
  query<Row extends object>(sql: string): Promise<Row[]>;
  /** Ends it as a crash would, dropping all connections. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Waits until it accepts connections, and starts it if it has exited. Returns since when it accepts them. */
  recover(): Promise<{ since: number; gaveUp: boolean }>;
  /** Stops all its processes (SIGSTOP): connections stay open, but nothing responds. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

export async function ownPostgres(options: Omit<ClusterOptions, "fsync"> = {}): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-own-postgres-"));
  const cluster = await createCluster(folder, { fsync: "off", ...options });
  let server = await cluster.run();
  let frozen: number[] = [];
  const url = `${cluster.details.url}/postgres`;
  const thaw = () => {
    for (const pid of frozen.splice(0)) signal(pid, "SIGCONT");
  };
  const hasEnded = () => server.exitCode !== null || server.signalCode !== null;
  async function query<Row extends object>(sql: string): Promise<Row[]> {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }
  async function start(): Promise<void> {
    server = await cluster.run();
  }
  return {
    url,
    query,
    crash: () => stopImmediately(server),
    start,
    async recover() {
      let since = performance.now();
      const isUp = async (): Promise<boolean> => {
        try {
          return (await query("SELECT 1")).length > 0;
        } catch {
          since = performance.now();
          return false;
        }
      };
      await until(async () => hasEnded() || (await isUp()) || undefined, 30_000);
      const gaveUp = hasEnded();
      if (!gaveUp) return { since, gaveUp };
      await start();
      return { since: performance.now(), gaveUp };
    },
    freeze() {
      frozen = processesOf(server);
      for (const pid of frozen) signal(pid, "SIGSTOP");
    },
    thaw,
    async remove() {
      thaw();
      await stopImmediately(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The postmaster first, so that it can't start new processes meanwhile. */
function processesOf({ pid = 0 }: ChildProcess): number[] {
  signal(pid, "SIGSTOP");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/).filter(Boolean);
  return [pid, ...children.map(Number)];
}

function signal(pid: number, name: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited meanwhile.
  }
}
