import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createCluster, stopImmediately } from "../test/support/services/start-postgres.ts";
import { cpuSecondsOf } from "./processes.ts";

/** A PostgreSQL for the benchmark, with fsync. */
export interface BenchPostgres {
  /** Creates an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs statements in one of its databases. */
  run(url: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Seconds of CPU that all its processes have used so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export async function startBenchPostgres(): Promise<BenchPostgres> {
  // Not inside the run's private folder: PostgreSQL runs as another user.
  const folder = mkdtempSync(join(tmpdir(), "formbridge-bench-postgres-"));
  const cluster = await createCluster(folder, { fsync: "on" });
  const server = await cluster.run();
  const { pid = 0 } = server;
  const children = (): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/).filter(Boolean).map(Number);

  async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query(sql);
      return rows;
    } finally {
      await client.end();
    }
  }

  return {
    async createDatabase(name) {
      await run(`${cluster.details.url}/postgres`, `CREATE DATABASE ${name}`);
      return `${cluster.details.url}/${name}`;
    },
    run,
    cpuSeconds: () =>
      children().reduce((sum, child) => sum + cpuSecondsOf(child).own, cpuSecondsOf(pid).own + cpuSecondsOf(pid).ended),
    async stop() {
      await stopImmediately(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
