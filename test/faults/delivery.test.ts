import { afterEach, expect, test } from "vitest";
import { createDice } from "../simulation/random.ts";
import { caller, type Loose, minimalIntake } from "../support/harness.ts";
import { create, eventsOf, submit, until } from "../support/moves.ts";
import { type Api, besideWorkers, embedded, isLong, patient, type Scene } from "./delivery-scene.ts";
import { ADMIN_KEY } from "./ledger-check.ts";
import { type Receiver, startReceiver } from "./webhook-receiver.ts";

const SUBMISSIONS = isLong ? 10_000 : 60;
const KILLS = isLong ? 50 : 2;
const CLIENTS = 8;
const FAILING = 0.3;
const CANCELLED = 0.05;
const TIMEOUT = isLong ? 3_600_000 : 240_000;
const SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGlzIHJlY2VpdmVy";
const SEED = Number(process.env.FORMBRIDGE_DELIVERY_SEED ?? Date.now() % 1_000_000);

const dice = createDice(SEED);
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

interface Story {
  submissionId: string;
  /** When a cancel was acknowledged, if one succeeded. */
  cancelledAt?: number;
}

async function tell(api: Api, index: number): Promise<Story> {
  const idempotencyKey = `create-${index}`.padEnd(32, "-");
  const { body } = await create(api, "shipped", { body: { idempotencyKey, initialFields: { name: `n${index}` } } });
  const { submissionId, resumeToken } = body;
  const reply = await submit(api, resumeToken, `submit-${index}`, { headers: { prefer: "wait=0" } });
  expect(reply.status).toBe(200);
  if (!dice.chance(CANCELLED)) return { submissionId };
  const cancel = await api.call("DELETE", `/submissions/${submissionId}`, { key: ADMIN_KEY });
  return cancel.status === 200 || cancel.status === 410 ? { submissionId, cancelledAt: Date.now() } : { submissionId };
}

async function run(scene: Scene, receiver: Receiver): Promise<Story[]> {
  const api = patient(scene.url);
  let next = 0;
  const client = async (): Promise<Story[]> => {
    const stories: Story[] = [];
    for (let index = next++; index < SUBMISSIONS; index = next++) stories.push(await tell(api, index));
    return stories;
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  for (let kill = 1; kill <= KILLS; kill++) {
    const enough = (kill * SUBMISSIONS) / (KILLS + 2);
    await until(() => receiver.arrivals.length >= enough || undefined, TIMEOUT);
    await scene.kill();
  }
  return (await clients).flat();
}

async function judge(api: Api, receiver: Receiver, { submissionId, cancelledAt }: Story): Promise<void> {
  const record: Loose = await until(async () => {
    const { body } = await api.call("GET", `/submissions/${submissionId}`, { key: ADMIN_KEY });
    return ["finalized", "cancelled"].includes(body.state) ? body : undefined;
  }, TIMEOUT);
  const arrivals = receiver.arrivals.filter((arrival) => arrival.submissionId === submissionId);
  expect(new Set(arrivals.map(({ deliveryId, body }) => `${deliveryId} ${body}`)).size, submissionId).toBeLessThan(2);
  if (cancelledAt !== undefined) {
    expect(record.state).toBe("cancelled");
    expect(arrivals.filter(({ at }) => at > cancelledAt)).toEqual([]);
    return;
  }
  expect(record.state).toBe("finalized");
  const taken = arrivals.filter((arrival) => arrival.taken);
  expect(taken.length, `${submissionId} arrived`).toBeGreaterThan(0);
  expect(taken[0]?.deliveryId).toBe(record.deliveryState.deliveryId);
  const [end] = await eventsOf(api, submissionId, "types=submission.finalized");
  expect(Date.parse(end.ts)).toBeGreaterThanOrEqual(Math.min(...taken.map(({ at }) => at)));
}

test.each([
  ["the server itself, on SQLite", embedded],
  ["a worker of its own, on PostgreSQL", besideWorkers],
])(
  "[DELIVERY-AT-LEAST-ONCE] killed while it delivers to a receiver that often fails, nothing is lost: %s",
  {
    timeout: TIMEOUT,
  },
  async (name, start) => {
    process.stdout.write(`delivery: FORMBRIDGE_DELIVERY_SEED=${SEED}\n`);
    const scene = await start();
    cleanUp.push(scene.end);
    const receiver = await startReceiver(SECRET, { dice, failing: FAILING });
    cleanUp.push(() => receiver.stop());
    const retryPolicy = { maxAttempts: 100, initialDelayMs: 10, maxDelayMs: 100, factor: 2 };
    const destination = { kind: "webhook", url: receiver.url, secret: SECRET, retryPolicy };
    const body = { ...minimalIntake("shipped"), destination };
    expect((await caller(scene.url)("PUT", "/intakes/shipped", { key: ADMIN_KEY, body })).status).toBe(201);
    const stories = await run(scene, receiver);
    const api = patient(scene.url);
    for (const story of stories) await judge(api, receiver, story);
    const cancelled = stories.filter(({ cancelledAt }) => cancelledAt !== undefined).length;
    process.stdout.write(
      `delivery, ${name}: ${stories.length} submitted, ${cancelled} cancelled, ${KILLS} kills, ${receiver.arrivals.length} requests\n`,
    );
    expect(receiver.unsigned).toBe(0);
  },
);
