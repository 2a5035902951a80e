import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDice } from "../simulation/random.ts";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import type { Loose } from "../support/harness.ts";
import { until } from "../support/moves.ts";
import { type OwnPostgres, ownPostgres } from "../support/services/own-postgres.ts";
import type { Story } from "./kill-client.ts";
import { ADMIN_KEY, checkStories, putIntake } from "./ledger-check.ts";
import { type Load, newLoad, writeThrough } from "./patient-client.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const ROUNDS = isLong ? 20 : 1;
const CLIENTS = 8;
const TIMEOUT = isLong ? 1_800_000 : 120_000;
/** From the moment that the store is back to the first success. */
const BACK_WITHIN_MS = 2_000;
/** Shorter than the fault, so that calls end in doubt while it lasts. */
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

/** Some load, the fault, some load. Answers what was seen, once every client is done. */
async function underLoad(
  name: string,
  fault: (load: Load) => Promise<void>,
): Promise<{ load: Load; stories: Story[] }> {
  const load = newLoad();
  const from = new Date().toISOString();
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    writeThrough(server.url, { name: `${name}-${index}`, dice: createDice(Date.now() + index), load }),
  );
  const finished = Promise.all(clients);
  const more = async (count: number): Promise<void> => {
    const before = load.answers.length;
    await Promise.race([until(() => load.answers.length >= before + count || undefined), finished]);
  };
  try {
    await more(50);
    await fault(load);
    await more(50);
  } finally {
    load.over = true;
  }
  const stories = (await finished).flat();
  const tally = { answered: 0, open: 0, applied: 0 };
  await checkStories(server.url, { stories, from, tally });
  process.stdout.write(
    `${name}: ${tally.answered} answered, ${load.refusals} refused, ${tally.open} left open (${tally.applied} were done)\n`,
  );
  return { load, stories };
}

function expectBack(load: Load, back: number): void {
  const first = load.answers.find((at) => at > back);
  expect(first, "a success after the fault").toBeDefined();
  process.stdout.write(`  first success ${Math.round((first ?? 0) - back)} ms after it was back\n`);
  expect((first ?? 0) - back).toBeLessThan(BACK_WITHIN_MS);
}

async function verifyAll(): Promise<void> {
  const { code, stdout, stderr } = await runCommand(["verify", "--all"], env());
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
}

describe("the database goes away under load: only 503, nothing lost, nothing doubled, back by itself", () => {
  test("[STORES-DOWN] [STORES-BACK] [STORES-READYZ] stopped at once and started again", {
    timeout: TIMEOUT,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      let back = 0;
      const { load } = await underLoad(`stopped${round}`, async (current) => {
        await postgres.crash();
        const down = await until(async () => {
          const state = await ready();
          return state.status === 503 ? state : undefined;
        });
        expect(down.store).toMatchObject({ healthy: false, detail: expect.any(String) });
        const refused = current.refusals;
        await until(() => current.refusals > refused + 50 || undefined);
        await postgres.start();
        back = performance.now();
        await until(() => (current.answers.at(-1) ?? 0) > back || undefined);
      });
      expectBack(load, back);
      const { status, store } = await ready();
      expect(status).toBe(200);
      expect(Math.abs(store.clockSkewMs)).toBeLessThan(1_000);
    }
    await verifyAll();
  });

  test("[STORES-DOUBT] [STORES-BACK] frozen and thawed: what waited too long is in doubt, and asked again", {
    timeout: TIMEOUT,
  }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      let back = 0;
      const { load } = await underLoad(`frozen${round}`, async (current) => {
        postgres.freeze();
        try {
          await until(() => current.refusals > 20 || undefined, 30_000);
          expect((await ready()).store).toMatchObject({ healthy: false });
        } finally {
          postgres.thaw();
        }
        back = performance.now();
        await until(() => (current.answers.at(-1) ?? 0) > back || undefined);
      });
      expectBack(load, back);
    }
    await verifyAll();
  });

  test("[STORES-DOUBT] its connections are cut again and again", { timeout: TIMEOUT }, async () => {
    await underLoad("cut", async (current) => {
      for (let cut = 0; cut < ROUNDS * 5; cut++) {
        const before = current.answers.length;
        await postgres.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'formbridge'",
        );
        await until(() => current.answers.length > before + 20 || undefined);
      }
    });
    await verifyAll();
  });
});
