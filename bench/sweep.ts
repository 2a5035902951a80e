import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import type { Client } from "./client-process.ts";
import { fillWithCopies } from "./fill.ts";
import { print } from "./report.ts";
import { type Server, startOurs } from "./server-process.ts";
import { percentile } from "./stats.ts";

/** A steady load: so many connections, each one write in so many milliseconds. */
const CONNECTIONS = 8;
const EVERY_MS = 100;
const WRITTEN_TO = 256;
const WARM_UP_SECONDS = 4;
const IDLE_SECONDS = 10;
const SLICE_SECONDS = 2;
const MAX_SECONDS = 1_200;
/** The first sweep comes when everything that is measured before it is done. */
const SWEEP_INTERVAL_MS = 30_000;

export interface Sweeping {
  due: number;
  submissionsPerSecond: number;
  seconds: number;
  idle: { p50: number; p99: number };
  sweeping: { p50: number; p99: number };
  p99Ratio: number;
  rss: { before: number; most: number };
}

/** A data folder with one submission, written by the product itself. */
async function writeTemplate(client: Client, folder: string): Promise<void> {
  const server = await startOurs(folder);
  try {
    const { port, apiKey } = server;
    await client.run({ port, connections: 1, until: { operationsEach: 1 }, load: { kind: "create", apiKey } });
  } finally {
    await server.stop();
  }
}

/** All submissions that there are become overdue. */
function makeDue(folder: string): void {
  const db = new Sqlite(join(folder, "formbridge.db"));
  const past = Date.now() - 3_600_000;
  db.prepare(
    "UPDATE submissions SET expires_at = @past, warn_at = NULL, doc = json_set(doc, '$.expiresAt', @past) WHERE editable = 1",
  ).run({ past });
  db.close();
}

function createCounter(db: Database): () => number {
  const count = db.prepare<[number], number>("SELECT count(*) FROM submissions WHERE editable = 1 AND expires_at < ?");
  return () => count.pluck().get(Date.now() - 60_000) ?? 0;
}

interface Load {
  client: Client;
  server: Server;
  tokens: string[];
}

/** Writes at a steady rate, and answers how long each took. */
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

async function duringSweep(load: Load, count: () => number) {
  const latencies: number[] = [];
  let most = load.server.rss();
  const due = count();
  const before = most;
  while (count() === due) await new Promise((resolve) => setTimeout(resolve, 20));
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let left = count();
  const first = left;
  while (left > 0 && seconds() < MAX_SECONDS) {
    const slice = await write(load, SLICE_SECONDS);
    left = count();
    most = Math.max(most, load.server.rss());
    // In the last slice the sweep ends somewhere: it is neither one nor the other.
    if (left > 0 || latencies.length === 0) latencies.push(...slice);
  }
  return { latencies, due, swept: first - left, seconds: seconds(), rss: { before, most } };
}

const spread = (latencies: readonly number[]) => ({
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
});

/** So many submissions are due at once: how fast do they expire, and what do others notice of it? */
export async function measureSweep(client: Client, folder: string, copies: number): Promise<Sweeping> {
  await writeTemplate(client, folder);
  fillWithCopies(folder, copies);
  makeDue(folder);
  print(`${copies} submissions are overdue`);
  const server = await startOurs(folder, { env: { FORMBRIDGE_SWEEP_INTERVAL_MS: String(SWEEP_INTERVAL_MS) } });
  const db = new Sqlite(join(folder, "formbridge.db"), { readonly: true });
  try {
    const { port, apiKey } = server;
    const until = { operationsEach: WRITTEN_TO / CONNECTIONS };
    const made = await client.run({ port, connections: CONNECTIONS, until, load: { kind: "create", apiKey } });
    const load: Load = { client, server, tokens: made.tokens };
    await write(load, WARM_UP_SECONDS);
    const idle = spread(await write(load, IDLE_SECONDS));
    const { latencies, due, swept, seconds, rss } = await duringSweep(load, createCounter(db));
    const sweeping = spread(latencies);
    return {
      due,
      submissionsPerSecond: swept / seconds,
      seconds,
      idle,
      sweeping,
      p99Ratio: sweeping.p99 / idle.p99,
      rss,
    };
  } finally {
    db.close();
    await server.stop();
  }
}
