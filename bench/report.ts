import type { Measure, Pairing } from "./compare.ts";
import type { DeliveryRate } from "./delivery.ts";
import type { Growth } from "./growth.ts";
import type { HistoryGrowth } from "./history.ts";
import type { Instances } from "./instances.ts";
import type { McpMeasures } from "./mcp.ts";
import type { PageMeasures } from "./pages.ts";
import type { Depths, Paging } from "./paging.ts";
import type { Soak } from "./soak.ts";
import type { Sweeping } from "./sweep.ts";
import type { TelemetryMeasures } from "./telemetry.ts";
import type { Lookup } from "./token-lookups.ts";

export const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

/** A promised figure, and whether this run met it. */
export interface Check {
  name: string;
  value: number;
  target: string;
  passed: boolean;
}

const atLeast = (name: string, value: number, least: number): Check => ({
  name,
  value,
  target: `>= ${least}`,
  passed: value >= least,
});
const atMost = (name: string, value: number, most: number): Check => ({
  name,
  value,
  target: `<= ${most}`,
  passed: value <= most,
});

const TITLES = { create: "create", setFields: "setFields", read: "GET by token" };
const THROUGHPUT = {
  sqlite: { create: 0.45, setFields: 0.55, read: 1 },
  postgres: { create: 0.6, setFields: 0.7, read: 0.5 },
};

export const checksOfPairing =
  (store: keyof typeof THROUGHPUT) =>
  ({ kind, throughputRatio, p99Ratio }: Pairing): Check[] => {
    const title = TITLES[kind];
    const throughput = atLeast(`${title}: ops/s against the floor`, throughputRatio, THROUGHPUT[store][kind]);
    return kind === "read" ? [throughput] : [throughput, atMost(`${title}: p99 against the floor`, p99Ratio, 2)];
  };

export const checksOfGrowth = ({ read, setFields }: Pick<Growth, "read" | "setFields">, tokens: string): Check[] => [
  atMost(`GET by token: ${tokens} tokens against 10k, time`, 1 / read.throughputRatio, 1.3),
  atMost(`setFields: ${tokens} tokens against 10k, time`, 1 / setFields.throughputRatio, 1.3),
];

export const checksOfDelivery = ({ perSecond }: DeliveryRate): Check[] => [
  atLeast("deliveries per second to a local receiver", perSecond, 1_000),
];

export const checksOfMcp = ({ pairings, listMs, tokens, startMs }: McpMeasures): Check[] => [
  ...pairings.map(({ kind, throughputRatio }) =>
    atLeast(`${TITLES[kind]}: tool calls against plain HTTP, ops/s`, throughputRatio, 0.6),
  ),
  atMost("tools/list with 100 intakes, ms", listMs, 50),
  atMost("tools listed for the six example intakes", tokens.tools, 20),
  atMost("tokens of that list in a model's context", tokens.told, 7_000),
  atMost("stdio: start to the first response, ms", startMs, 1_000),
];

export const checksOfTelemetry = ({ pairings, traced, scrapeMs }: TelemetryMeasures): Check[] => [
  ...pairings.map(({ kind, throughputRatio }) =>
    atLeast(`${TITLES[kind]}: metrics and log on against off, ops/s`, throughputRatio, 0.92),
  ),
  ...traced.map(({ kind, throughputRatio }) =>
    atLeast(`${TITLES[kind]}: with traces of one call in ten against off, ops/s`, throughputRatio, 0.9),
  ),
  atMost("a scrape with 200 intakes, ms", scrapeMs, 50),
];

const TWO_INSTANCES = 1.6;

/** None if the machine can't show it: a load that already uses all cores isn't faster with two processes. */
export function checksOfInstances({ setFields, busyCores, cores }: Instances): Check[] {
  if (busyCores * TWO_INSTANCES > cores) return [];
  return [atLeast("setFields: two instances against one", setFields.throughputRatio, TWO_INSTANCES)];
}

export function printInstances({ setFields, read, busyCores, cores }: Instances): void {
  printMeasures([setFields, read], ["one", "two"]);
  const ratios = `setFields ${setFields.throughputRatio.toFixed(2)}x, GET by token ${read.throughputRatio.toFixed(2)}x`;
  print(`two instances against one: ${ratios}`);
  print(`one instance, its database and the load kept ${busyCores.toFixed(1)} of ${cores} cores busy`);
  if (busyCores * TWO_INSTANCES > cores) {
    print(`this machine can't show ${TWO_INSTANCES}x: that takes ${(busyCores * TWO_INSTANCES).toFixed(1)} cores`);
  }
}

export function printLookups(lookups: readonly Lookup[]): void {
  const cells = (texts: readonly string[]): string =>
    texts.map((text, at) => (at < 3 ? text.padEnd(7) : text.padStart(12))).join(" ");
  print(cells(["asked", "mode", "", "look-ups/s", "alone us", "CPU us", "its DB us"]));
  for (const { asked, mode, warmth, opsPerSecond, aloneMicros, ownCpuMicros, databaseCpuMicros } of lookups) {
    const numbers = [opsPerSecond, aloneMicros, ownCpuMicros, databaseCpuMicros].map((number) => number.toFixed(0));
    print(cells([asked, mode, warmth, ...numbers]));
  }
}

export const checksOfHistory = ({ ratio }: HistoryGrowth): Check[] => [
  atMost("setFields: 4,000th write against the 100th, time", ratio, 1.2),
];

export const checksOfSoak = ({ earlyHeap, lateHeap, bounded }: Soak): Check[] => [
  {
    name: "heap after a collection: minutes 8-10 against minutes 3-5",
    value: lateHeap / earlyHeap,
    target: "<= 1.1",
    passed: bounded,
  },
];

/** Bounded memory only shows after many have expired: the growth of an idle server when work begins says nothing. */
export const checksOfSweep = ({ alone, p99Ratio, memory: { early, late } }: Sweeping): Check[] => [
  atLeast("expiries per second while nobody writes", alone, 2_000),
  atMost("a write during a sweep against without one, p99", p99Ratio, 2),
  ...(late === undefined ? [] : [atMost("memory after the first 100,000 expiries against during", late / early, 1.2)]),
];

export const checksOfPages = ({ sizes, interactive: { example, many }, keystrokes }: PageMeasures): Check[] => [
  atMost("form page: script, kB compressed", sizes.script / 1000, 90),
  atMost("form page: style, kB compressed", sizes.style / 1000, 6),
  atMost("form page: another language, kB compressed", sizes.language / 1000, 3),
  atMost("interactive against a plain form, example intake", example.page / example.floor, 1.8),
  atMost("interactive against a plain form, 300 fields", many.page / many.floor, 2.2),
  atMost("a keystroke among 300 fields against it, p50", keystrokes.page.p50 / keystrokes.floor.p50, 1.5),
  atMost("a keystroke among 300 fields against it, p95", keystrokes.page.p95 / keystrokes.floor.p95, 2),
];

const WIDTHS = [14, 12, 9, 9, 9, 10, 10, 8, 8];
const row = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(" ");

function measureRow(title: string, name: string, measure: Measure): string {
  const { opsPerSecond, p50, p99, cpuMicros, databaseCpuMicros, rss, bytes } = measure;
  const costs = [cpuMicros, databaseCpuMicros].map((micros) => micros.toFixed(0));
  return row([
    title,
    name,
    opsPerSecond.toFixed(0),
    p50.toFixed(2),
    p99.toFixed(2),
    ...costs,
    rss.toFixed(0),
    `${bytes}`,
  ]);
}

export function printMeasures(pairings: readonly Pairing[], [base, other]: [string, string]): void {
  print(row(["", "", "ops/s", "p50 ms", "p99 ms", "CPU us/op", "its DB", "RSS MB", "bytes"]));
  for (const pairing of pairings) {
    print(measureRow(TITLES[pairing.kind], base, pairing.base));
    print(measureRow("", other, pairing.other));
  }
  const costs = pairings.map((one) => `${TITLES[one.kind]} ${(one.other.cpuMicros / one.base.cpuMicros).toFixed(1)}x`);
  print(`CPU of ${other} against ${base}: ${costs.join(", ")}`);
}

export function printChecks(checks: readonly Check[]): void {
  for (const { name, value, target, passed } of checks) {
    print(`${passed ? "PASS" : "MISS"}  ${name.padEnd(50)} ${value.toFixed(2).padStart(6)}  (${target})`);
  }
}

export function printSweep(swept: Sweeping): void {
  const { alone, cpuMicros, shared, seconds, idle, sweeping, memory } = swept;
  const whole = (value: number): string => value.toFixed(0);
  print(
    `${whole(alone)}/s while nobody writes (${whole(cpuMicros)} us of CPU each), ${whole(shared)}/s while others do`,
  );
  print(`${whole(seconds)} s in total`);
  print(`a write: p50 ${idle.p50.toFixed(2)} ms and p99 ${idle.p99.toFixed(2)} ms before and after the sweep`);
  print(`         p50 ${sweeping.p50.toFixed(2)} ms and p99 ${sweeping.p99.toFixed(2)} ms during it`);
  const late = memory.late === undefined ? "" : `, ${whole(memory.late)} MB later`;
  print(`memory: ${whole(memory.before)} MB before; at most ${whole(memory.early)} MB for the first 100,000${late}`);
}

export function printPages({ interactive: { example, many }, keystrokes: { floor, page } }: PageMeasures): void {
  const times = (title: string, plain: number, ours: number) =>
    print(
      `${title.padEnd(34)} plain form ${plain.toFixed(1).padStart(7)} ms, form page ${ours.toFixed(1).padStart(7)} ms`,
    );
  times("interactive, example intake", example.floor, example.page);
  times("interactive, 300 fields", many.floor, many.page);
  times("a keystroke, p50", floor.p50, page.p50);
  times("a keystroke, p95", floor.p95, page.p95);
}

const depthsOf = ({ pages, ms }: Depths): string =>
  pages.map((page, at) => `page ${page} ${ms[at]?.toFixed(1)} ms`).join(", ");

export function printPaging({ submissions, oai, harvest, against, exports }: Paging): void {
  print(`submissions: ${depthsOf(submissions)}`);
  print(`OAI-PMH: ${depthsOf(oai)}`);
  const { records, seconds, p50, p99 } = harvest;
  print(
    `harvest: ${records} records, ${(records / seconds).toFixed(0)}/s; p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`,
  );
  if (against === undefined) print("Debian's OAI provider isn't installed, so there is no comparison with it");
  else print(`10,000 records: ${against.ours.toFixed(0)}/s; Debian's provider ${against.other.toFixed(0)}/s`);
  for (const { form, lines, seconds: took, earlyMegabytes, lateMegabytes } of exports) {
    const memory = `at most ${earlyMegabytes.toFixed(0)} MB for the first tenth, ${lateMegabytes.toFixed(0)} MB later`;
    print(`export as ${form}: ${lines} submissions in ${took.toFixed(0)} s, ${memory}`);
  }
}

export const checksOfPaging = ({ store, submissions, oai, harvest, against, exports }: Paging): Check[] => [
  atMost(`${store}: list of submissions, slowest page depth`, submissions.ratio, 1.3),
  atMost(`${store}: OAI-PMH, slowest page depth`, oai.ratio, 1.3),
  atMost(`${store}: whole harvest, p99 of a page against p50`, harvest.p99 / harvest.p50, 5),
  ...(against ? [atLeast(`${store}: records/s against Debian's provider`, against.ours / against.other, 5)] : []),
  ...exports.map(({ form, earlyMegabytes, lateMegabytes }) =>
    atMost(`${store}: ${form}, memory later against early`, lateMegabytes / earlyMegabytes, 1.3),
  ),
];
