import type { Client } from "./client-process.ts";
import type { JobResult, Load } from "./protocol.ts";
import type { Server } from "./server-process.ts";
import { median } from "./stats.ts";

export const CONNECTIONS = 32;

/** One kind of load on one server, as the median of its rounds. */
export interface Measure {
  opsPerSecond: number;
  p50: number;
  p99: number;
  /** Server CPU per operation, in microseconds: the most reliable figure when other programs share the machine. */
  cpuMicros: number;
  /** The same for the database; zero without one. */
  databaseCpuMicros: number;
  rss: number;
  bytes: number;
  clientCpu: number;
}

export const KINDS = ["create", "setFields", "read"] as const;
export type Kind = (typeof KINDS)[number];

/** A server with the submissions that the benchmark uses there. */
export interface Side {
  server: Server;
  tokens: string[];
  /** A database in separate processes, whose CPU is reported separately. */
  database?: { cpuSeconds(): number };
  /** Requests are sent as tool calls. */
  mcp?: true;
}

export interface Pairing {
  kind: Kind;
  base: Measure;
  other: Measure;
  /** Medians of the rounds' own ratios: both rounds of a pair ran under the same conditions. */
  throughputRatio: number;
  p99Ratio: number;
}

/** One round of each side, one right after the other. */
export interface MeasuredPair {
  base: Measure;
  other: Measure;
}

export interface Rounds {
  count: number;
  seconds: number;
  warmUpSeconds: number;
}

const loadOf = (kind: Kind, { server, tokens, mcp }: Side): Load => ({
  ...(kind === "create" ? { kind, apiKey: server.apiKey } : { kind, tokens }),
  ...(mcp && { mcp }),
});

const portsOf = ({ port, otherPorts }: Server) => ({ port, ...(otherPorts && { otherPorts }) });

/**
 * Creates a side's submissions, a multiple of the connections, each written to once, so that reads and writes work on a
 * filled form.
 */
export async function createSide(client: Client, server: Server, submissions: number): Promise<Side> {
  const job = { ...portsOf(server), connections: CONNECTIONS, until: { operationsEach: submissions / CONNECTIONS } };
  const created = await client.run({ ...job, load: { kind: "create", apiKey: server.apiKey } });
  const { tokens } = await client.run({ ...job, load: { kind: "setFields", tokens: created.tokens } });
  return { server, tokens };
}

async function round(client: Client, side: Side, { kind, seconds }: { kind: Kind; seconds: number }): Promise<Measure> {
  const { server, database } = side;
  const cpu = server.cpuSeconds();
  const databaseCpu = database?.cpuSeconds() ?? 0;
  const load = loadOf(kind, side);
  const result: JobResult = await client.run({
    ...portsOf(server),
    connections: CONNECTIONS,
    until: { seconds },
    load,
  });
  if (kind === "setFields") side.tokens = result.tokens;
  const { operations, p50, p99, bytes, clientCpu } = result;
  return {
    opsPerSecond: operations / result.seconds,
    p50,
    p99,
    cpuMicros: ((server.cpuSeconds() - cpu) * 1e6) / operations,
    databaseCpuMicros: (((database?.cpuSeconds() ?? 0) - databaseCpu) * 1e6) / operations,
    rss: server.rss(),
    bytes,
    clientCpu,
  };
}

function middle(rounds: readonly Measure[]): Measure {
  const of = (name: keyof Measure): number => median(rounds.map((one) => one[name]));
  return {
    opsPerSecond: of("opsPerSecond"),
    p50: of("p50"),
    p99: of("p99"),
    cpuMicros: of("cpuMicros"),
    databaseCpuMicros: of("databaseCpuMicros"),
    rss: of("rss"),
    bytes: of("bytes"),
    clientCpu: of("clientCpu"),
  };
}

/** Alternates rounds of both sides, and which comes first, so that a busy minute affects both. */
export async function measurePairs(
  client: Client,
  [base, other]: [Side, Side],
  { kind, rounds }: { kind: Kind; rounds: Rounds },
): Promise<MeasuredPair[]> {
  const { count, seconds, warmUpSeconds } = rounds;
  for (const side of [base, other]) await round(client, side, { kind, seconds: warmUpSeconds });
  const pairs: MeasuredPair[] = [];
  for (let turn = 0; turn < count; turn++) {
    const measured = new Map<Side, Measure>();
    for (const side of turn % 2 === 0 ? [base, other] : [other, base]) {
      measured.set(side, await round(client, side, { kind, seconds }));
    }
    pairs.push({ base: measured.get(base) as Measure, other: measured.get(other) as Measure });
  }
  return pairs;
}

export const pairingOf = (kind: Kind, pairs: readonly MeasuredPair[]): Pairing => ({
  kind,
  base: middle(pairs.map(({ base }) => base)),
  other: middle(pairs.map(({ other }) => other)),
  throughputRatio: median(pairs.map(({ base, other }) => other.opsPerSecond / base.opsPerSecond)),
  p99Ratio: median(pairs.map(({ base, other }) => other.p99 / base.p99)),
});

export const compare = async (
  client: Client,
  sides: [Side, Side],
  { kind, rounds }: { kind: Kind; rounds: Rounds },
): Promise<Pairing> => pairingOf(kind, await measurePairs(client, sides, { kind, rounds }));
