import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN_KEY, putIntake } from "../faults/ledger-check.ts";
import { firstSuccessAfter, underLoad } from "../faults/under-load.ts";
import { runCommand } from "../support/child.ts";
import { until } from "../support/moves.ts";
import { type OwnPostgres, ownPostgres } from "../support/services/own-postgres.ts";
import { mountSmallDisk, type SmallDisk } from "../support/services/small-disk.ts";
import { type Fleet, startFleet } from "./fleet.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 20 : 2;
const CLIENTS = 12;
/** More than all rounds together write. */
const DISK_MB = isLong ? 512 : 192;
/** From when the database accepts connections, with room, to the first success. */
const BACK_WITHIN_MS = 2_000;

let disk: SmallDisk;
let postgres: OwnPostgres;
let fleet: Fleet;

beforeAll(async () => {
  postgres = await ownPostgres({
    walSegmentMb: 1,
    async mount(data) {
      disk = await mountSmallDisk("postgres", data, DISK_MB);
      return disk.account;
    },
  });
  fleet = await startFleet({ adminKey: ADMIN_KEY, databaseUrl: postgres.url });
  await putIntake(fleet.url);
});
afterAll(async () => {
  await fleet?.stop();
  await postgres?.remove();
  disk?.remove();
});

/** Until there is no room for the log either: then PostgreSQL panics, and may not start again before there is. */
async function exhaustLog(): Promise<void> {
  const write = () => postgres.query("SELECT pg_logical_emit_message(false, 'filler', repeat('x', 1000000))");
  await until(() =>
    write().then(
      () => undefined,
      () => true,
    ),
  );
}

test("[STORES-DOWN] [STORES-BACK] PostgreSQL's disk is full under load: only 503, nothing lost, nothing duplicated, and it recovers with room", {
  timeout: isLong ? 1_800_000 : 120_000,
}, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await underLoad({ url: fleet.url, name: `full${round}`, clients: CLIENTS }, async (seen) => {
      await disk.fill();
      if (round % 2 === 1) await exhaustLog();
      await seen.refused(50);
      await disk.makeRoom();
      const { since, gaveUp } = await postgres.recover();
      const ms = await firstSuccessAfter(since, seen);
      process.stdout.write(`  ${gaveUp ? "it gave up; " : ""}first success ${Math.round(ms)} ms after it was back\n`);
      expect(ms).toBeLessThan(BACK_WITHIN_MS);
    });
  }
  const { code, stderr } = await runCommand(["verify", "--all"], { ...fleet.env, FORMBRIDGE_LOG_LEVEL: "silent" });
  expect(code, stderr).toBe(0);
});
