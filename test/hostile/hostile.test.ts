import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenApi, type Operations, readOperations } from "./operations.ts";
import { type RunResult, runCases } from "./run.ts";
import { brokenChains } from "./sentinels.ts";
import { createWorld, type World } from "./world.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
const cases = Number(process.env.FORMBRIDGE_HOSTILE_CASES ?? (isLong ? 1_000_000 : 50_000));
const seed = Number(process.env.FORMBRIDGE_HOSTILE_SEED ?? (isLong ? Date.now() % 2 ** 31 : 20_260_301));
const MAX_GROWTH_BYTES = 600 * 1024 * 1024;
const MAX_ANSWER_MS = 5000;

let world: World;
let operations: Operations;
let result: RunResult;
let growth: number;
const warnings: string[] = [];

beforeAll(
  async () => {
    process.on("warning", (warning) => warnings.push(`${warning.name}: ${warning.message}`));
    world = await createWorld();
    const { body } = await world.test.call("GET", "/openapi.json");
    operations = readOperations(body as OpenApi);
    const before = process.memoryUsage.rss();
    const began = performance.now();
    const worked = process.cpuUsage();
    result = await runCases(world, operations, { seed, cases, connections: 16, lookEvery: 800 });
    growth = process.memoryUsage.rss() - before;
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(worked);
    const cpu = ((user + system) / 1e6).toFixed(1);
    process.stdout.write(
      `hostile: seed ${seed}, ${cases} cases, ${seconds.toFixed(1)} s (${cpu} s of CPU), ${Math.round(growth / 2 ** 20)} MiB more\n`,
    );
  },
  isLong ? 3_600_000 : 900_000,
);

afterAll(async () => {
  await world.test.stop();
});

test("[BAD-INPUT-ENVELOPE] [BAD-INPUT-NO-EFFECT] [RUNNING-OPENAPI-TRUE] every response to hostile input follows the contract, and nothing that was refused changed anything", () => {
  const found = [...result.findings].map(([problem, { count, example }]) => `${count} × ${problem}\n    ${example}`);
  expect(found.join("\n"), `seed ${seed}`).toBe("");
});

/**
 * A valid call of these needs something that the cases can't generate: a signed URL, a bucket, the link in a mail, a hand-off's session,
 * or a working receiver. They have their own tests.
 */
const NEEDS_A_GIFT =
  /Upload|^resumable|^signParts$|^showReview$|^getReviewEvents$|^reviewByLink$|^complete(?:Own)?Handoff$|^testWebhook$|^(?:skip|replay)Events$/;

test("the cases reached every operation of the document, with good calls and bad ones", () => {
  const expected = operations.all.filter(({ id }) => !["healthz", "readyz"].includes(id));
  const missed = expected
    .filter(({ id }) => !result.operations.has(`${id} bad`))
    .map(({ id }) => `${id} was never refused`);
  const done = expected
    .filter(({ id }) => !NEEDS_A_GIFT.test(id) && !result.operations.has(`${id} good`))
    .map(({ id }) => `${id} never worked`);
  expect([...missed, ...done]).toEqual([]);
});

test("no hostile call delayed the server", () => {
  expect(result.slowest.ms, result.slowest.example).toBeLessThan(MAX_ANSWER_MS);
});

test("hostile calls leave no memory and no listeners behind", () => {
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  expect(warnings).toEqual([]);
});

test("after the run the server still works", async () => {
  const key = world.own.agent;
  const made = await world.test.call("POST", `/intakes/${world.own.publicIntake}/submissions`, {
    key,
    body: { initialFields: { name: "Ada" } },
  });
  expect(made.status).toBe(201);
  const headers = { "idempotency-key": "after-the-storm" };
  const done = await world.test.call("POST", `/resume/${made.body.resumeToken}/submit`, { key, headers, body: {} });
  expect([done.status, done.body.state]).toEqual([200, "finalized"]);
  expect((await world.test.call("GET", "/readyz")).status).toBe(200);
});

test("the hash chains of all streams are whole", async () => {
  const most = isLong ? 20_000 : 3000;
  for (const tenant of [world.own.name, world.foreign.name])
    expect(await brokenChains(world, { tenant, most })).toEqual([]);
}, 120_000);
