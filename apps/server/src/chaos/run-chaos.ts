import { createRandomness } from "@formbridge/core";
import { createCalls, inWords, type Server } from "../probe/calls.ts";
import { checkIntake } from "../probe/run-probe.ts";
import { cancelAll, findBroken, findDoubled, findLost } from "./audit.ts";
import type { Fault, Outcome, Scene } from "./fault.ts";
import { brokenBodies } from "./faults/broken-bodies.ts";
import { failedLookups } from "./faults/failed-lookups.ts";
import { lostConnections } from "./faults/lost-connections.ts";
import { rivals } from "./faults/rivals.ts";
import { sameKey } from "./faults/same-key.ts";
import { slowConnections } from "./faults/slow-connections.ts";
import { strangers } from "./faults/strangers.ts";

const FAULTS: readonly Fault[] = [...sameKey, ...rivals, strangers, ...lostConnections, brokenBodies, slowConnections];
/** The checks after the faults; always run. */
const CHECKS: readonly Fault[] = [
  { name: "nothing is lost", run: findLost },
  { name: "nothing is doubled", run: findDoubled },
  { name: "histories verify", run: findBroken },
  { name: "what was left open is cancelled", run: cancelAll },
];
/** May get this address blocked, and so comes last. */
const LAST: readonly Fault[] = [failedLookups];

export interface ChaosOptions extends Server {
  key: string;
  intake: string;
  field: string;
  /** No fault is started after this time. */
  maxMs: number;
}

export interface ChaosRow extends Outcome {
  name: string;
  ms: number;
}

/** Refuses a server that doesn't say itself that it is for staging. */
async function requireStaging(options: Server): Promise<void> {
  const health = await createCalls(options)("GET", "/healthz");
  if (health.status !== 200) throw new Error(`${options.url} is not healthy: ${inWords(health)}`);
  if (health.body.staging === true) return;
  throw new Error(
    `${options.url} is not a staging server. Start one with FORMBRIDGE_STAGING=on, and never your real one.`,
  );
}

/** Causes every fault, then checks what the server has kept of what it acknowledged. */
export async function* runChaos(options: ChaosOptions): AsyncGenerator<ChaosRow, void, undefined> {
  const { url, key, intake, field, maxMs } = options;
  await requireStaging(options);
  const call = createCalls(options);
  await checkIntake(call, { intake, deliver: false });
  const run = `chaos ${createRandomness().salt()}`;
  const scene: Scene = { url, key, call, intake, field, run, ledger: { entries: [] } };
  const end = performance.now() + maxMs;
  const isLate = (): boolean => performance.now() > end;
  for (const fault of FAULTS) yield await timed(fault, scene, isLate());
  for (const check of CHECKS) yield await timed(check, scene);
  for (const fault of LAST) yield await timed(fault, scene, isLate());
}

async function timed(part: Fault, scene: Scene, isLate = false): Promise<ChaosRow> {
  const began = performance.now();
  const outcome = isLate ? { tried: 0, problems: ["there was no time left"] } : await outcomeOf(part, scene);
  return { name: part.name, ...outcome, ms: performance.now() - began };
}

const outcomeOf = (part: Fault, scene: Scene): Promise<Outcome> =>
  part.run(scene).catch((error: unknown) => ({
    tried: 1,
    problems: [error instanceof Error ? error.message : String(error)],
  }));
