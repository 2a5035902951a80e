/**
 * `npm run bench`: FormBridge beside a floor that does nothing but the I/O, on one machine in one run. Absolute numbers depend
 * on the machine; the ratios are what we promise. `--embedded` and `--postgres` run one part. `--long` soaks the server for ten
 * minutes instead. These run only when named: `--delivery`, `--mcp`, `--pages`, `--postgres-growth`, `--instances`,
 * `--token-lookups`, `--telemetry`, `--sweep` and `--paging`. CONTRIBUTING.md says what each compares; RESULTS.md has the latest figures.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, startClient } from "./client-process.ts";
import {
  CONNECTIONS,
  createSide,
  KINDS,
  type Kind,
  type MeasuredPair,
  measurePairs,
  pairingOf,
  type Side,
} from "./compare.ts";
import { measureDelivery } from "./delivery.ts";
import { measureGrowth } from "./growth.ts";
import { type HistoryGrowth, measureHistory } from "./history.ts";
import { measureInstances } from "./instances.ts";
import { measureMcp } from "./mcp.ts";
import { measurePages } from "./pages.ts";
import { measurePaging } from "./paging.ts";
import { measurePostgres } from "./postgres.ts";
import { measurePostgresGrowth } from "./postgres-growth.ts";
import {
  type Check,
  checksOfDelivery,
  checksOfGrowth,
  checksOfHistory,
  checksOfInstances,
  checksOfMcp,
  checksOfPages,
  checksOfPaging,
  checksOfPairing,
  checksOfSoak,
  checksOfSweep,
  checksOfTelemetry,
  print,
  printChecks,
  printInstances,
  printLookups,
  printMeasures,
  printPages,
  printPaging,
  printSweep,
} from "./report.ts";
import { HEAP_PROBE, type Server, startFloor, startOurs } from "./server-process.ts";
import { soak } from "./soak.ts";
import { measureSweep } from "./sweep.ts";
import { measureTelemetry } from "./telemetry.ts";
import { measureTokenLookups } from "./token-lookups.ts";

interface Outcome {
  checks: Check[];
  measured: Record<string, unknown>;
}

const SUBMISSIONS = 1024;
// Ours has more code to warm up than the floor: after six seconds, much of it wasn't fully optimized yet, and a short
// warm-up would measure the compiler.
const ROUNDS = { count: 7, seconds: 2, warmUpSeconds: 20 };
/**
 * The same code varies by 5 % from one start to the next, and by more between rounds on a shared machine; so use
 * several starts of both servers and the median of all rounds.
 */
const STARTS = 3;
const ROUNDS_A_START = { count: 6, seconds: 2, warmUpSeconds: 12 };
const GROWTH_ROUNDS = { count: 5, seconds: 2, warmUpSeconds: 3 };

async function withServers<Result>(
  starts: (() => Promise<Server>)[],
  work: (servers: Server[]) => Promise<Result>,
): Promise<Result> {
  const servers: Server[] = [];
  try {
    for (const start of starts) servers.push(await start());
    return await work(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function againstFloor(client: Client, folder: string): Promise<Outcome> {
  const pairs: Record<Kind, MeasuredPair[]> = { create: [], setFields: [], read: [] };
  let history: HistoryGrowth | undefined;
  for (let start = 1; start <= STARTS; start++) {
    const own = join(folder, `start-${start}`);
    mkdirSync(own);
    const starts = [() => startFloor(own), () => startOurs(join(own, "ours"))];
    await withServers(starts, async ([floor, ours]) => {
      if (floor === undefined || ours === undefined) throw new Error("both servers are needed");
      const sides: [Side, Side] = [
        await createSide(client, floor, SUBMISSIONS),
        await createSide(client, ours, SUBMISSIONS),
      ];
      for (const kind of KINDS) {
        pairs[kind].push(...(await measurePairs(client, sides, { kind, rounds: ROUNDS_A_START })));
      }
      if (start === STARTS) history = await measureHistory(client, ours);
    });
    rmSync(own, { recursive: true });
  }
  const pairings = KINDS.map((kind) => pairingOf(kind, pairs[kind]));
  printMeasures(pairings, ["floor", "formbridge"]);
  const checks = pairings.flatMap(checksOfPairing("sqlite"));
  printChecks(checks);
  if (history === undefined) throw new Error("no start measured a long history");
  print("\nLong histories");
  print(
    `one write alone: ${history.youngMs.toFixed(2)} ms at the 100th, ${history.oldMs.toFixed(2)} ms at the 4,000th`,
  );
  const more = checksOfHistory(history);
  printChecks(more);
  return { checks: [...checks, ...more], measured: { pairings, history } };
}

async function onPostgres(client: Client, folder: string): Promise<Outcome> {
  print("\nOn PostgreSQL, against a floor of one statement per request");
  const pairings = await measurePostgres(client, folder, ROUNDS);
  printMeasures(pairings, ["floor", "formbridge"]);
  const checks = pairings.flatMap(checksOfPairing("postgres"));
  printChecks(checks);
  return { checks, measured: { postgres: pairings } };
}

async function embedded(client: Client, folder: string): Promise<Outcome> {
  const { count, seconds } = ROUNDS_A_START;
  print(
    `Against the floor (${CONNECTIONS} connections, ${STARTS} starts, ${count} interleaved rounds of ${seconds} s each)`,
  );
  const floor = await againstFloor(client, folder);
  print("\nLarge files (filling one takes a minute)");
  const growth = await measureGrowth(client, folder, GROWTH_ROUNDS);
  print(`${growth.tokens} tokens and ${growth.events} events, filled in ${growth.fillSeconds.toFixed(0)} s`);
  printMeasures([growth.read, growth.setFields], ["10k tokens", "2M tokens"]);
  const checks = checksOfGrowth(growth, "2M");
  printChecks(checks);
  return { checks: [...floor.checks, ...checks], measured: { ...floor.measured, growth } };
}

async function postgresGrowth(client: Client, folder: string): Promise<Outcome> {
  print("\nLarge databases (filling one takes minutes)");
  const growth = await measurePostgresGrowth(client, folder, GROWTH_ROUNDS);
  print(`${growth.tokens} tokens, filled in ${growth.fillSeconds.toFixed(0)} s`);
  printMeasures([growth.read, growth.setFields], ["10k tokens", "5M tokens"]);
  const checks = checksOfGrowth(growth, "5M");
  printChecks(checks);
  return { checks, measured: { postgresGrowth: growth } };
}

async function instances(client: Client, folder: string): Promise<Outcome> {
  print("\nTwo instances against one, on one database");
  const measured = await measureInstances(client, folder, ROUNDS);
  printInstances(measured);
  const checks = checksOfInstances(measured);
  printChecks(checks);
  return { checks, measured: { instances: measured } };
}

async function tokenLookups(client: Client, folder: string): Promise<Outcome> {
  print("\nToken lookups at the port: PostgreSQL alone, and with Redis in front of it");
  const lookups = await measureTokenLookups(client, folder);
  printLookups(lookups);
  return { checks: [], measured: { tokenLookups: lookups } };
}

async function delivery(_client: Client, folder: string): Promise<Outcome> {
  print("\nDelivery of small payloads to a local receiver");
  const rate = await measureDelivery(join(folder, "delivery"));
  const ratio = (rate.perSecond / rate.floorPerSecond).toFixed(2);
  print(
    `${rate.perSecond.toFixed(0)}/s; plain requests to it ${rate.floorPerSecond.toFixed(0)}/s, a ratio of ${ratio}`,
  );
  const checks = checksOfDelivery(rate);
  printChecks(checks);
  return { checks, measured: { delivery: rate } };
}

async function mcp(client: Client, folder: string): Promise<Outcome> {
  print("\nTool calls against the same operations over plain HTTP, on one server");
  const measured = await measureMcp(client, folder, ROUNDS);
  printMeasures(measured.pairings, ["HTTP", "MCP"]);
  print(`${measured.listedTools} tools of 100 intakes: listed in ${measured.listMs.toFixed(1)} ms`);
  const { tools, told, raw } = measured.tokens;
  print(`${tools} tools of the six example intakes: ${told} tokens in a model's context (${raw} with what hosts keep)`);
  const checks = checksOfMcp(measured);
  printChecks(checks);
  return { checks, measured: { mcp: measured } };
}

async function pages(_client: Client, folder: string): Promise<Outcome> {
  print("\nThe form page against a plain HTML form, in a browser slowed down four times");
  const measured = await measurePages(join(folder, "pages"));
  printPages(measured);
  const checks = checksOfPages(measured);
  printChecks(checks);
  return { checks, measured: { pages: measured } };
}

async function telemetry(client: Client, folder: string): Promise<Outcome> {
  print("\nMetrics and the log of requests on, against off");
  const measured = await measureTelemetry(client, folder, ROUNDS);
  printMeasures(measured.pairings, ["off", "on"]);
  printMeasures(measured.traced, ["off", "traced"]);
  print(`a scrape with 200 intakes: ${measured.scrapeMs.toFixed(1)} ms`);
  const checks = checksOfTelemetry(measured);
  printChecks(checks);
  return { checks, measured: { telemetry: measured } };
}

const PARTS = {
  "--embedded": embedded,
  "--delivery": delivery,
  "--mcp": mcp,
  "--pages": pages,
  "--postgres": onPostgres,
  "--postgres-growth": postgresGrowth,
  "--instances": instances,
  "--token-lookups": tokenLookups,
  "--telemetry": telemetry,
};

async function bench(client: Client, folder: string): Promise<Outcome> {
  const chosen = Object.entries(PARTS).filter(([flag]) => process.argv.includes(flag));
  const parts = chosen.length === 0 ? [embedded, onPostgres] : chosen.map(([, part]) => part);
  const outcome: Outcome = { checks: [], measured: {} };
  for (const part of parts) {
    const { checks, measured } = await part(client, folder);
    outcome.checks.push(...checks);
    Object.assign(outcome.measured, measured);
  }
  return outcome;
}

async function longBench(client: Client, folder: string): Promise<Outcome> {
  print("Ten minutes of mixed load: creates, writes and reads");
  return await withServers([() => startOurs(folder, { nodeOptions: HEAP_PROBE })], async ([server]) => {
    if (server === undefined) throw new Error("the server is needed");
    const soaked = await soak(client, server);
    const { opsPerSecond, p99, earlyHeap, lateHeap, bounded } = soaked;
    print(`${opsPerSecond.toFixed(0)} ops/s, p99 ${p99.toFixed(1)} ms`);
    print(`heap, minutes 3-5: ${earlyHeap.toFixed(0)} MB, minutes 8-10: ${lateHeap.toFixed(0)} MB`);
    print(bounded ? "the heap is bounded" : "the heap grows");
    const checks = checksOfSoak(soaked);
    printChecks(checks);
    return { checks, measured: { soak: soaked } };
  });
}

async function sweepBench(client: Client, folder: string): Promise<Outcome> {
  print("Submissions that expire at the same time, while others write");
  const outcome: Outcome = { checks: [], measured: {} };
  const chosen = (["embedded", "postgres"] as const).filter((store) => process.argv.includes(`--${store}`));
  for (const store of chosen.length === 0 ? (["embedded", "postgres"] as const) : chosen) {
    const due = isLong ? 1_000_000 : 100_000;
    const swept = await measureSweep(client, { folder: join(folder, `sweep-${store}`), store, due });
    printSweep(swept);
    const checks = checksOfSweep(swept);
    printChecks(checks);
    outcome.checks.push(...checks);
    outcome.measured[store] = swept;
  }
  return outcome;
}

/** One page more than five million: page 50,000 isn't the last one. */
const RECORDS = 5_000_100;

/** `--records=200000` makes a short run of it. */
async function pagingBench(folder: string): Promise<Outcome> {
  print("Lists, harvests and exports of many records");
  const outcome: Outcome = { checks: [], measured: {} };
  const given = process.argv.find((arg) => arg.startsWith("--records="))?.split("=")[1];
  const records = given === undefined ? RECORDS : Number(given);
  const chosen = (["embedded", "postgres"] as const).filter((store) => process.argv.includes(`--${store}`));
  for (const store of chosen.length === 0 ? (["embedded", "postgres"] as const) : chosen) {
    const own = join(folder, `paging-${store}`);
    const measured = await measurePaging({ folder: own, store, records });
    rmSync(own, { recursive: true });
    printPaging(measured);
    const checks = checksOfPaging(measured);
    printChecks(checks);
    outcome.checks.push(...checks);
    outcome.measured[store] = measured;
  }
  return outcome;
}

function save(name: string, { checks, measured }: Outcome): void {
  const file = fileURLToPath(new URL(`results/${name}.json`, import.meta.url));
  mkdirSync(fileURLToPath(new URL("results", import.meta.url)), { recursive: true });
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const at = new Date().toISOString();
  writeFileSync(file, `${JSON.stringify({ at, machine, checks, ...measured }, undefined, 2)}\n`);
  print(`\nWritten to ${file}`);
}

const isLong = process.argv.includes("--long");
// On the disk of the temporary folder, because fsync is measured too.
const folder = mkdtempSync(join(tmpdir(), "formbridge-bench-"));
const client = startClient();
try {
  if (process.argv.includes("--sweep")) save("sweep", await sweepBench(client, folder));
  else if (process.argv.includes("--paging")) save("paging", await pagingBench(folder));
  else if (isLong) save("long", await longBench(client, folder));
  else save("latest", await bench(client, folder));
} finally {
  client.stop();
  rmSync(folder, { recursive: true, force: true });
}
