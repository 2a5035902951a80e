import type { Client } from "./client-process.ts";
import { CONNECTIONS } from "./compare.ts";
import { print } from "./report.ts";
import type { Server } from "./server-process.ts";
import { mean } from "./stats.ts";

const SECONDS = 600;
const SAMPLE_MS = 20_000;
/** Beyond this, the growth of the heap from minutes 3–5 to minutes 8–10 is more than noise. */
const MAX_GROWTH = 1.1;

interface Sample {
  second: number;
  /** In use after a full collection, in MB. */
  heap: number;
  /** Resident memory in MB. It also holds what the collector and the allocator keep for later, so it proves nothing. */
  rss: number;
}

export interface Soak {
  opsPerSecond: number;
  p99: number;
  samples: Sample[];
  earlyHeap: number;
  lateHeap: number;
  bounded: boolean;
}

/** Ten minutes of creates, writes and reads: does the heap level off? */
export async function soak(client: Client, server: Server): Promise<Soak> {
  const samples: Sample[] = [];
  const started = performance.now();
  async function sample(): Promise<void> {
    const second = Math.round((performance.now() - started) / 1000);
    const taken = { second, heap: Math.round(await server.heap()), rss: Math.round(server.rss()) };
    samples.push(taken);
    if (second % 60 < SAMPLE_MS / 1000) print(`  ${second} s: heap ${taken.heap} MB, resident ${taken.rss} MB`);
  }
  const sampler = setInterval(() => void sample(), SAMPLE_MS);
  const load = { kind: "mixed" as const, apiKey: server.apiKey };
  const job = { port: server.port, connections: CONNECTIONS, until: { seconds: SECONDS }, load };
  const { operations, seconds, p99 } = await client.run(job).finally(() => clearInterval(sampler));
  const heapBetween = (from: number, to: number): number =>
    mean(samples.filter(({ second }) => second >= from * 60 && second <= to * 60).map(({ heap }) => heap));
  const earlyHeap = heapBetween(3, 5);
  const lateHeap = heapBetween(8, 10);
  const bounded = lateHeap <= earlyHeap * MAX_GROWTH;
  return { opsPerSecond: operations / seconds, p99, samples, earlyHeap, lateHeap, bounded };
}
