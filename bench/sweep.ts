import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import type { Client } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { fillWithCopies } from "./fill.ts";
import { fillWithCopies as fillPostgres } from "./postgres-fill.ts";
import { print } from "./report.ts";
import { type Server, startOurs } from "./server-process.ts";
import { percentile } from "./stats.ts";
import { writeTemplate } from "./template.ts";

/** A steady load: this many connections, each with one write per interval. */
const CONNECTIONS = 8;
const EVERY_MS = 100;
const WRITTEN_TO = 256;
const WARM_UP_SECONDS = 4;
/** Measured before the sweep and again after it, because the machine isn't equally busy all the time. */
const IDLE_SECONDS = 15;
const SLICE_SECONDS = 2;
/** How long the sweep runs without other writes, and then with them, at most. */
const ALONE_SECONDS = 8;
const SHARED_SECONDS = 300;
const MAX_SECONDS = 3_600;
/** The first sweep comes after everything that is measured before it. */
const SWEEP_INTERVAL_MS = 40_000;
const AN_HOUR = 3_600_000;
const EARLY = 100_000;

interface Spread {
  p50: number;
  p99: number;
}

export interface Sweeping {
  due: number;
  /** Submissions per second, without and with other writes. */
  alone: number;
  shared: number;
  seconds: number;
  /** Latency of a write, without and during the sweep. */
  idle: Spread;
  sweeping: Spread;
  p99Ratio: number;
  /** Server CPU per submission, without other writes. */
  cpuMicros: number;
  /** Megabytes: before the sweep, the peak during its first 100,000, and the peak after these. */
  memory: { before: number; early: number; late?: number };
}

/** A store full of overdue submissions, each one millisecond younger than the previous one. */
interface Overdue {
  databaseUrl?: string;
  /** When the oldest submission that is still open was due. */
  oldest(): Promise<number | undefined>;
  close(): Promise<void>;
}

type Fill = (client: Client, folder: string, due: { from: number; copies: number }) => Promise<Overdue>;

const fillFile: Fill = async (client, folder, { from, copies }) => {
  await writeTemplate(client, { folder, writes: 1 });
  const file = join(folder, "formbridge.db");
  const template = new Sqlite(file);
  template
    .prepare("UPDATE submissions SET expires_at = @from, warn_at = NULL, doc = json_set(doc, '$.expiresAt', @from)")
    .run({ from });
  template.close();
  fillWithCopies(folder, copies);
  const db = new Sqlite(file, { readonly: true });
  const oldest = db.prepare<[], number | null>("SELECT min(expires_at) FROM submissions WHERE editable").pluck();
  return { oldest: async () => oldest.get() ?? undefined, close: async () => void db.close() };
};

const fillDatabase: Fill = async (client, folder, { from, copies }) => {
  const postgres = await startBenchPostgres();
  const databaseUrl = await postgres.createDatabase("overdue");
  await writeTemplate(client, { folder, databaseUrl, writes: 1 });
  await postgres.run(
    databaseUrl,
    `UPDATE formbridge.submissions
       SET expires_at = ${from}, warn_at = NULL, doc = replace(doc, '"expiresAt":' || expires_at, '"expiresAt":${from}')`,
  );
  await fillPostgres(postgres, { databaseUrl, copies });
  return {
    databaseUrl,
    async oldest() {
      const sql = "SELECT min(expires_at)::text AS oldest FROM formbridge.submissions WHERE editable";
      const [row] = await postgres.run(databaseUrl, sql);
      return row?.oldest == null ? undefined : Number(row.oldest);
    },
    close: () => postgres.stop(),
  };
};

const FILLS = { embedded: fillFile, postgres: fillDatabase };

interface Load {
  client: Client;
  server: Server;
  tokens: string[];
}

/** Writes at a steady rate, and returns each latency. */
async function write(load: Load, seconds: number): Promise<number[]> {
  const result = await load.client.run({
    port: load.server.port,
    connections: CONNECTIONS,
    until: { seconds },
    load: { kind: "setFields", tokens: load.tokens },
    everyMs: EVERY_MS,
    keepLatencies: true,
  });
  load.tokens = result.tokens;
  return result.latencies ?? [];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** First without writes, then with them, then without again, until nothing is left. */
async function watchSweep(load: Load, due: number, swept: () => Promise<number>) {
  const { server } = load;
  const memory: Sweeping["memory"] = { before: server.rss(), early: 0 };
  const latencies: number[] = [];
  while ((await swept()) === 0) await pause(20);
  const began = performance.now();
  let done = await swept();

  /** Repeats the work for this long or until nothing is due. */
  async function during(limit: number, work: () => Promise<void>) {
    const from = { done, at: performance.now(), cpu: server.cpuSeconds() };
    const seconds = (): number => (performance.now() - from.at) / 1000;
    while (done < due && seconds() < limit) {
      await work();
      done = await swept();
      const when = done <= EARLY ? "early" : "late";
      memory[when] = Math.max(memory[when] ?? 0, server.rss());
    }
    return { swept: done - from.done, seconds: seconds(), cpu: server.cpuSeconds() - from.cpu };
  }

  const first = await during(ALONE_SECONDS, () => pause(250));
  const shared = await during(SHARED_SECONDS, async () => {
    const slice = await write(load, SLICE_SECONDS);
    // The sweep ends somewhere in the last slice, so that slice counts for neither.
    if ((await swept()) < due || latencies.length === 0) latencies.push(...slice);
  });
  const rest = await during(MAX_SECONDS, () => pause(1_000));
  const alone = first.swept + rest.swept;
  return {
    latencies,
    memory,
    seconds: (performance.now() - began) / 1000,
    alone: alone / (first.seconds + rest.seconds),
    cpuMicros: ((first.cpu + rest.cpu) / alone) * 1e6,
    shared: shared.swept / shared.seconds,
  };
}

const spread = (latencies: readonly number[]): Spread => ({
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
});

export interface SweepOptions {
  folder: string;
  store: keyof typeof FILLS;
  /** How many submissions are due. */
  due: number;
}

/** With this many submissions due at once: how fast do they expire, and how does that affect others? */
export async function measureSweep(client: Client, { folder, store, due }: SweepOptions): Promise<Sweeping> {
  mkdirSync(folder, { recursive: true });
  const from = Date.now() - AN_HOUR - due;
  const overdue = await FILLS[store](client, folder, { from, copies: due - 1 });
  print(`${due} submissions are overdue (${store})`);
  const env = { FORMBRIDGE_SWEEP_INTERVAL_MS: String(SWEEP_INTERVAL_MS) };
  const { databaseUrl } = overdue;
  const server = await startOurs(folder, { env, ...(databaseUrl !== undefined && { databaseUrl }) });
  try {
    const { port, apiKey } = server;
    const until = { operationsEach: WRITTEN_TO / CONNECTIONS };
    const made = await client.run({ port, connections: CONNECTIONS, until, load: { kind: "create", apiKey } });
    const load: Load = { client, server, tokens: made.tokens };
    await write(load, WARM_UP_SECONDS);
    const before = await write(load, IDLE_SECONDS);
    const swept = async (): Promise<number> => Math.min(due, ((await overdue.oldest()) ?? from + due) - from);
    const { latencies, ...watched } = await watchSweep(load, due, swept);
    const sweeping = spread(latencies);
    const idle = spread([...before, ...(await write(load, IDLE_SECONDS))]);
    return { due, ...watched, idle, sweeping, p99Ratio: sweeping.p99 / idle.p99 };
  } finally {
    await server.stop();
    await overdue.close();
  }
}
