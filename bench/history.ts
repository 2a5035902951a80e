import type { Client } from "./client-process.ts";
import { CONNECTIONS, createSide } from "./compare.ts";
import type { Server } from "./server-process.ts";
import { median } from "./stats.ts";

const PAIRS = 8;
const YOUNG = 50;
const OLD = 3_950;
const WINDOW = 100;

export interface HistoryGrowth {
  /** Milliseconds per write, with nothing else on the connection. */
  youngMs: number;
  oldMs: number;
  ratio: number;
}

/**
 * Does a write cost more on a submission that has seen thousands? Compares writes 50–150 of young submissions with
 * writes 3,950–4,050 of old ones, alternating on one connection so that both run under the same conditions.
 */
export async function measureHistory(client: Client, server: Server): Promise<HistoryGrowth> {
  const { tokens } = await createSide(client, server, CONNECTIONS);
  const { port } = server;
  // Each has seen two writes by now: the create and one setFields.
  const age = async (some: string[], writes: number): Promise<string[]> => {
    const load = { kind: "setFields" as const, tokens: some };
    return (await client.run({ port, connections: some.length, until: { operationsEach: writes - 2 }, load })).tokens;
  };
  const old = await age(tokens.slice(0, PAIRS), OLD);
  const young = await age(tokens.slice(PAIRS, 2 * PAIRS), YOUNG);
  const times: { old: number; young: number }[] = [];
  for (const [index, token] of old.entries()) {
    const load = { kind: "setFields" as const, tokens: [token, young[index] ?? ""] };
    const until = { operationsEach: 2 * WINDOW };
    const { latencies = [] } = await client.run({ port, connections: 1, until, load, keepLatencies: true });
    times.push({
      old: median(latencies.filter((_, at) => at % 2 === 0)),
      young: median(latencies.filter((_, at) => at % 2 === 1)),
    });
  }
  return {
    youngMs: median(times.map((pair) => pair.young)),
    oldMs: median(times.map((pair) => pair.old)),
    ratio: median(times.map((pair) => pair.old / pair.young)),
  };
}
