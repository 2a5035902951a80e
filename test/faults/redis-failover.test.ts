import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { type OwnSentinels, ownSentinels } from "../support/services/own-sentinels.ts";
import type { Breakable } from "../support/services/start-redis.ts";
import { ADMIN_KEY, putIntake } from "./ledger-check.ts";
import { firstSuccessAfter, type Seen, underLoad } from "./under-load.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const FAILOVERS = isLong ? Number(process.env.FORMBRIDGE_FAILOVERS ?? 10) : 1;
const TIMEOUT = isLong ? 1_800_000 : 120_000;
const BACK_WITHIN_MS = 10_000;
const CLIENTS = 8;

const folder = tempFolder();
let redis: OwnSentinels | undefined;
let server: ServerProcess | undefined;

beforeAll(async () => {
  redis = await ownSentinels(isLong ? {} : { downAfterMs: 1_000 });
  server = await startServerProcess({
    FORMBRIDGE_DATA: folder.path,
    FORMBRIDGE_INTAKES: folder.path,
    FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
    FORMBRIDGE_RATE_LIMIT: "off",
    FORMBRIDGE_LOG_LEVEL: "warn",
    FORMBRIDGE_REDIS_URL: redis.url,
    // Without Redis, calls with a token or a key are refused.
    FORMBRIDGE_TOKEN_BACKEND: "redis",
    FORMBRIDGE_IDEMPOTENCY_BACKEND: "redis",
  });
  await putIntake(server.url);
});
afterAll(async () => {
  await server?.stop();
  await redis?.remove();
  folder.remove();
});

type Fault = readonly [name: string, strike: (server: Breakable) => unknown, mend: (server: Breakable) => unknown];
const FAULTS: readonly Fault[] = [
  ["is killed", (primary) => primary.kill(), (primary) => primary.restart()],
  ["hangs", (primary) => primary.pause(), (primary) => primary.resume()],
];

test("[RUNNING-REDIS-SENTINEL] [RUNNING-REDIS-NOT-TRUTH] the primary of Redis is lost under load: only 503, nothing lost, nothing doubled", {
  timeout: TIMEOUT,
}, async () => {
  await underLoad({ url: server?.url ?? "", name: "redis-failover", clients: CLIENTS }, async (seen) => {
    for (let count = 0; count < FAILOVERS; count++) {
      const backMs = await failOver(redis as OwnSentinels, seen, FAULTS[count % FAULTS.length] as Fault);
      expect(backMs).toBeLessThan(BACK_WITHIN_MS);
    }
  });
});

/** How long it took from the promotion to the first write that succeeded. */
async function failOver(sentinels: OwnSentinels, seen: Seen, [what, strike, mend]: Fault): Promise<number> {
  const lost = await sentinels.untilRedundant();
  await seen.more(50);
  const refusals = seen.load.refusals;
  const struck = performance.now();
  await strike(lost);
  await seen.refused(1);
  await sentinels.untilPrimary((server) => server !== lost);
  const promoted = performance.now();
  const backMs = await firstSuccessAfter(promoted, seen);
  await mend(lost);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  process.stdout.write(
    `  the primary ${what}: promoted after ${seconds(promoted - struck)}, first write ${seconds(backMs)} later, ` +
      `${seen.load.refusals - refusals} refused\n`,
  );
  return backMs;
}
