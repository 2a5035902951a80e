import type { Client } from "./client-process.ts";
import { CONNECTIONS } from "./compare.ts";
import { print } from "./report.ts";
import type { Server } from "./server-process.ts";
import { mean } from "./stats.ts";

const SECONDS = 600;
const SAMPLE_MS = 10_000;
/** Beyond this, the growth of memory from minutes 3–5 to minutes 8–10 is more than noise. */
const MAX_GROWTH = 1.1;

export interface Soak {
  opsPerSecond: number;
  p99: number;
  rss: { second: number; megabytes: number }[];
  earlyMegabytes: number;
  lateMegabytes: number;
  bounded: boolean;
}

/** Ten minutes of creates, writes and reads: does the server's memory level off? */
export async function soak(client: Client, server: Server): Promise<Soak> {
  const rss: Soak["rss"] = [];
  const started = performance.now();
  const sampler = setInterval(() => {
    const second = Math.round((performance.now() - started) / 1000);
    rss.push({ second, megabytes: Math.round(server.rss()) });
    if (second % 60 < 10) print(`  ${second} s: ${Math.round(server.rss())} MB`);
  }, SAMPLE_MS);
  const load = { kind: "mixed" as const, apiKey: server.apiKey };
  const job = { port: server.port, connections: CONNECTIONS, until: { seconds: SECONDS }, load };
  const { operations, seconds, p99 } = await client.run(job).finally(() => clearInterval(sampler));
  const between = (from: number, to: number): number =>
    mean(rss.filter(({ second }) => second >= from * 60 && second <= to * 60).map(({ megabytes }) => megabytes));
  const earlyMegabytes = between(3, 5);
  const lateMegabytes = between(8, 10);
  const bounded = lateMegabytes <= earlyMegabytes * MAX_GROWTH;
  return { opsPerSecond: operations / seconds, p99, rss, earlyMegabytes, lateMegabytes, bounded };
}
