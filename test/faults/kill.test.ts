import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDice, type Dice } from "../simulation/random.ts";
import { runCommand, type ServerProcess, startServerProcess, tempFolder } from "../support/child.ts";
import { type Story, writeUntilKilled } from "./kill-client.ts";
import { ADMIN_KEY, checkStories, putIntake } from "./ledger-check.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const CYCLES = isLong ? 1_000 : 25;
const VERIFY_EVERY = isLong ? 50 : 12;
/** A folder is used for this many runs of the server. */
const CYCLES_A_FOLDER = 50;
const CLIENTS = 8;
const SEED = Number(process.env.FORMBRIDGE_KILL_SEED ?? Date.now() % 1_000_000);

let folder = tempFolder();
afterAll(() => folder.remove());
const env = () => ({
  FORMBRIDGE_DATA: folder.path,
  FORMBRIDGE_ADMIN_KEY: ADMIN_KEY,
  FORMBRIDGE_RATE_LIMIT: "off",
  FORMBRIDGE_LOG_LEVEL: "error",
  FORMBRIDGE_INTAKES: folder.path,
  // A short run would mostly be the start; a successful start leaves its compiled code behind.
  NODE_COMPILE_CACHE: join(tmpdir(), "formbridge-compile-cache"),
});

test("killed under load at any moment, every acknowledged write is there once and every other one at most once [IDEMPOTENCY-CRASH]", {
  timeout: isLong ? 7_200_000 : 240_000,
}, async () => {
  const began = performance.now();
  process.stdout.write(`kill: FORMBRIDGE_KILL_SEED=${SEED}\n`);
  const dice = createDice(SEED);
  const tally = { answered: 0, open: 0, applied: 0 };
  let server = await startServerProcess(env());
  await putIntake(server.url);
  await server.stop();
  server = await startServerProcess(env());
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const from = new Date().toISOString();
    const stories = await loadAndKill(server, { cycle, dice });
    server = await startServerProcess(env());
    await checkStories(server.url, { stories, from, tally });
    if (cycle % VERIFY_EVERY === VERIFY_EVERY - 1 || cycle === CYCLES - 1) await verifyHistories();
    if (cycle % CYCLES_A_FOLDER === CYCLES_A_FOLDER - 1) server = await moveOn(server);
  }
  await server.stop();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const { answered, open, applied } = tally;
  process.stdout.write(
    `kill: ${CYCLES} kills, ${answered} answered writes, ${open} open ones (${applied} were done), ${seconds} s\n`,
  );
  expect(answered).toBeGreaterThan(CYCLES);
});

async function loadAndKill(server: ServerProcess, { cycle, dice }: { cycle: number; dice: Dice }): Promise<Story[]> {
  const progress = { answers: 0 };
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    writeUntilKilled(server.url, { name: `c${cycle}-${client}`, dice: createDice(dice.below(2 ** 31)), progress }),
  );
  // After a number of responses, not after a time: on a busy machine the killed server might have been idle.
  // Every other run is long enough for the checkpoint thread to have started.
  const enough = 5 + dice.below(cycle % 2 === 0 ? 120 : 400);
  for (const giveUp = Date.now() + 20_000; progress.answers < enough && Date.now() < giveUp; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await server.kill();
  return (await Promise.all(clients)).flat();
}

async function verifyHistories(): Promise<void> {
  const { code, stdout, stderr } = await runCommand(["verify", "--all"], env());
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^[1-9]\d* verified/m);
}

async function moveOn(server: ServerProcess): Promise<ServerProcess> {
  await server.stop();
  folder.remove();
  folder = tempFolder();
  const next = await startServerProcess(env());
  await putIntake(next.url);
  return next;
}
