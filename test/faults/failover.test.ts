import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { until } from "../support/moves.ts";
import {
  CONFIGS,
  type HighAvailability,
  type Member,
  startHighAvailability,
} from "../support/services/high-availability.ts";
import { accountFor, findProgram, untilEnded } from "../support/services/programs.ts";
import { ADMIN_KEY, putIntake } from "./ledger-check.ts";
import { firstSuccessAfter, type Seen, underLoad } from "./under-load.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const KILLS = Number(process.env.FORMBRIDGE_FAILOVERS ?? 10);
const CLIENTS = 8;
const TIMEOUT = 1_800_000;
const BACK_WITHIN_MS = 30_000;

const folder = tempFolder();
let ha: HighAvailability | undefined;
let server: ServerProcess | undefined;
const env = () => ({
  FORMBRIDGE_DATA: folder.path,
  FORMBRIDGE_INTAKES: folder.path,
  FORMBRIDGE_SECRET: "a secret of every test instance",
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_RATE_LIMIT: "off",
  FORMBRIDGE_LOG_LEVEL: "warn",
  ...ha?.env,
});

beforeAll(async () => {
  if (!isLong) return;
  ha = await startHighAvailability();
  server = await startServerProcess(env());
  await putIntake(server.url);
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await ha?.remove();
  folder.remove();
});

type Fault = readonly [name: string, strike: (member: Member) => unknown, mend: (member: Member) => unknown];
const FAULTS: readonly Fault[] = [
  ["its machine loses power", (member) => member.cutPower(), (member) => member.boot()],
  ["PostgreSQL is killed", (member) => member.crashPostgres(), () => {}],
];

test("HAProxy accepts the file that follows the primary", async () => {
  const haproxy = findProgram("haproxy", "haproxy");
  await untilEnded(accountFor("root").start(haproxy, ["-c", "-f", join(CONFIGS, "haproxy.cfg")]));
});

/** A failover takes most of a minute, and a cluster to start it on. */
test.runIf(isLong)(
  "[STORES-FAILOVER] [STORES-DOWN] the primary is lost under load, again and again: only 503, nothing lost, nothing duplicated",
  { timeout: TIMEOUT },
  async () => {
    const cluster = ha as HighAvailability;
    await underLoad({ url: server?.url ?? "", name: "failover", clients: CLIENTS }, async (seen) => {
      for (let kill = 0; kill < KILLS; kill++) {
        const backMs = await failOver(cluster, seen, FAULTS[kill % FAULTS.length] as Fault);
        expect(backMs).toBeLessThan(BACK_WITHIN_MS);
      }
      await cluster.untilRedundant();
    });
    const { code, stdout, stderr } = await runCommand(["verify", "--all"], env());
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  },
);

/** The time from the promotion to the first write that succeeded. */
async function failOver(cluster: HighAvailability, seen: Seen, [what, strike, mend]: Fault): Promise<number> {
  const lost = await cluster.untilRedundant();
  await seen.more(50);
  const refusals = seen.load.refusals;
  const struck = performance.now();
  await strike(lost);
  await until(async () => {
    const now = await cluster.primary();
    return now !== undefined && now !== lost ? now : undefined;
  }, 90_000);
  const promoted = performance.now();
  const backMs = await firstSuccessAfter(promoted, seen);
  await mend(lost);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  process.stdout.write(
    `  ${lost.name}, ${what}: promoted after ${seconds(promoted - struck)}, first write ${seconds(backMs)} later, ` +
      `${seen.load.refusals - refusals} refused\n`,
  );
  return backMs;
}
