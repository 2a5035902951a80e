/**
 * Shows where the server spends its time: `node bench/profile.ts <create|setFields|read> [ours|floor|postgres]` runs a
 * load under --cpu-prof (`postgres`: ours on PostgreSQL) and prints microseconds per operation by function, by file,
 * and by our own functions including everything they call.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClient } from "./client-process.ts";
import { startBenchPostgres } from "./cluster.ts";
import { CONNECTIONS, createSide } from "./compare.ts";
import { startFloor, startOurs } from "./server-process.ts";

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}
interface Profile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
  startTime: number;
  endTime: number;
}

const SECONDS = 10;
const ROWS = 45;
const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

const placeOf = ({ callFrame: { url, functionName, lineNumber } }: ProfileNode): string => {
  const file = url.replace(/^file:\/\//, "").replace(/^.*\/(node_modules|main)\//, "");
  return `${functionName === "" ? "(anonymous)" : functionName} ${file}${file === "" ? "" : `:${lineNumber + 1}`}`;
};
const fileOf = (node: ProfileNode): string => placeOf(node).split(" ")[1]?.replace(/:\d+$/, "") || placeOf(node);

/** Self time in microseconds of every node, within a span of the system's monotonic clock. */
function selfTimes({ samples, timeDeltas, startTime }: Profile, [from, to]: [number, number]): Map<number, number> {
  const self = new Map<number, number>();
  let clock = startTime;
  samples.forEach((id, index) => {
    const delta = timeDeltas[index] ?? 0;
    clock += delta;
    if (clock >= from && clock <= to) self.set(id, (self.get(id) ?? 0) + delta);
  });
  return self;
}

/** Self time by function and by file, and inclusive time by function, in microseconds. */
function account(profile: Profile, span: [number, number]) {
  const { nodes } = profile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const self = selfTimes(profile, span);
  const places = new Map<string, number>();
  const files = new Map<string, number>();
  const inclusive = new Map<string, number>();
  const add = (into: Map<string, number>, name: string, micros: number) =>
    into.set(name, (into.get(name) ?? 0) + micros);
  function walk(node: ProfileNode, above: ReadonlySet<string>): number {
    const place = placeOf(node);
    const own = self.get(node.id) ?? 0;
    add(places, place, own);
    add(files, fileOf(node), own);
    const within = new Set(above).add(place);
    let total = own;
    for (const child of node.children ?? []) total += walk(byId.get(child) as ProfileNode, within);
    // Count a recursive function once, at its outermost call.
    if (!above.has(place)) add(inclusive, place, total);
    return total;
  }
  const [rootNode] = nodes;
  if (rootNode !== undefined) walk(rootNode, new Set());
  return { places, files, inclusive };
}

function printTop(title: string, times: Map<string, number>, operations: number): void {
  print(`\n${title} (us per operation)`);
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, ROWS);
  for (const [name, micros] of sorted) print(`${(micros / operations).toFixed(2).padStart(9)}  ${name}`);
}

const [kind = "setFields", which = "ours"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "formbridge-profile-"));
const profiles = join(folder, "profiles");
mkdirSync(profiles);
const client = startClient();
const nodeOptions = ["--cpu-prof", `--cpu-prof-dir=${profiles}`, "--cpu-prof-interval=200"];
const postgres = which === "postgres" ? await startBenchPostgres() : undefined;
const databaseUrl = await postgres?.createDatabase("ours");
const server = await (which === "floor"
  ? startFloor(folder, nodeOptions)
  : startOurs(folder, { nodeOptions, ...(databaseUrl !== undefined && { databaseUrl }) }));
const side = await createSide(client, server, 1024);
const steadyMicros = (): number => Number(process.hrtime.bigint() / 1000n);
const from = steadyMicros();
const job = { port: server.port, connections: CONNECTIONS, until: { seconds: SECONDS } };
const { operations } = await client.run({
  ...job,
  load:
    kind === "create"
      ? { kind, apiKey: server.apiKey }
      : { kind: kind === "read" ? "read" : "setFields", tokens: side.tokens },
});
const to = steadyMicros();
client.stop();
await server.stop();
await postgres?.stop();
const [file = ""] = readdirSync(profiles);
const profile: Profile = JSON.parse(readFileSync(join(profiles, file), "utf8"));
const { places, files, inclusive } = account(profile, [from, to]);
print(`${which} ${kind}: ${operations} operations in ${SECONDS} s under the profiler`);
printTop("Self time by function", places, operations);
printTop("Self time by file", files, operations);
printTop(
  "Inclusive time",
  new Map([...inclusive].filter(([name]) => /packages\/|apps\/|fastify|helmet|cors/.test(name))),
  operations,
);
rmSync(folder, { recursive: true });
