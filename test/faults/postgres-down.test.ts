import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { type OwnPostgres, ownPostgres } from "../support/services/own-postgres.ts";
import { ADMIN_KEY, putIntake } from "./ledger-check.ts";
import type { Load } from "./patient-client.ts";
import { firstSuccessAfter, type Seen, underLoad } from "./under-load.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 20 : 1;
const CLIENTS = 8;
const TIMEOUT = isLong ? 1_800_000 : 120_000;
/** From when the store is back to the first success. */
const BACK_WITHIN_MS = 2_000;
/** Shorter than the fault, so that calls end with an unknown outcome during it. */
const STATEMENT_TIMEOUT_MS = 500;

const folder = tempFolder();
let postgres: OwnPostgres;
let server: ServerProcess;
const env = () => ({
  FORMBRIDGE_DATA: folder.path,
  FORMBRIDGE_INTAKES: folder.path,
  FORMBRIDGE_DATABASE_URL: postgres.url,
  FORMBRIDGE_DATABASE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS),
  FORMBRIDGE_DATABASE_CONNECT_TIMEOUT_MS: "1000",
  FORMBRIDGE_SECRET: "a secret of every test instance",
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_RATE_LIMIT: "off",
  FORMBRIDGE_LOG_LEVEL: "silent",
});

beforeAll(async () => {
  postgres = await ownPostgres();
  server = await startServerProcess(env());
  await putIntake(server.url);
});
afterAll(async () => {
  await server?.stop();
  await postgres?.remove();
  folder.remove();
});
beforeEach(async () => {
  expect((await ready()).status).toBe(200);
});

async function ready(): Promise<{ status: number; store: Loose }> {
  const response = await fetch(`${server.url}/readyz`);
  const body = (await response.json()) as Loose;
  return { status: response.status, store: body.stores.store };
}

const loaded = (name: string, fault: (seen: Seen) => Promise<void>): Promise<Load> =>
  underLoad({ url: server.url, name, clients: CLIENTS }, fault);

async function expectBack(seen: Seen): Promise<void> {
  const ms = await firstSuccessAfter(performance.now(), seen);
  process.stdout.write(`  first success ${Math.round(ms)} ms after it was back\n`);
  expect(ms).toBeLessThan(BACK_WITHIN_MS);
}

async function verifyAll(): Promise<void> {
  const { code, stdout, stderr } = await runCommand(["verify", "--all"], env());
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
}

describe("the database goes away under load: only 503, nothing lost, nothing duplicated, and it recovers", () => {
  test("[STORES-DOWN] [STORES-BACK] [STORES-READYZ] stopped at once and started again", {
    timeout: TIMEOUT,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await loaded(`stopped${round}`, async (seen) => {
        await postgres.crash();
        const down = await until(async () => {
          const state = await ready();
          return state.status === 503 ? state : undefined;
        });
        expect(down.store).toMatchObject({ healthy: false, detail: expect.any(String) });
        await seen.refused(50);
        await postgres.start();
        await expectBack(seen);
      });
      const { status, store } = await ready();
      expect(status).toBe(200);
      expect(Math.abs(store.clockSkewMs)).toBeLessThan(1_000);
    }
    await verifyAll();
  });

  test("[STORES-DOUBT] [STORES-BACK] frozen and thawed: calls that waited too long have an unknown outcome, and are retried", {
    timeout: TIMEOUT,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await loaded(`frozen${round}`, async (seen) => {
        postgres.freeze();
        try {
          await seen.refused(20);
          expect((await ready()).store).toMatchObject({ healthy: false });
        } finally {
          postgres.thaw();
        }
        await expectBack(seen);
      });
    }
    await verifyAll();
  });

  test("[STORES-DOUBT] its connections are cut again and again", { timeout: TIMEOUT }, async () => {
    await loaded("cut", async ({ more }) => {
      for (let cut = 0; cut < ROUNDS * 5; cut++) {
        await postgres.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'formbridge'",
        );
        await more(20);
      }
    });
    await verifyAll();
  });
});
