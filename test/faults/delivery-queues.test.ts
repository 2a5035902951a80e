import type { OpenedCourier } from "@formbridge/conformance";
import { afterEach, expect, test } from "vitest";
import { openNats, openRabbitmq, openRedis } from "../../packages/outbound/test/receivers.ts";
import { type Loose, minimalIntake } from "../support/harness.ts";
import { create, submit, until } from "../support/moves.ts";
import { type Api, besideWorkers, embedded, isLong, patient } from "./delivery-scene.ts";
import { ADMIN_KEY } from "./ledger-check.ts";

/** To each queue. */
const SUBMISSIONS = isLong ? 10_000 : 15;
const KILLS = isLong ? 50 : 1;
const CLIENTS = 3;
const TIMEOUT = isLong ? 3_600_000 : 240_000;

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

interface Line {
  id: string;
  opened: OpenedCourier;
}

async function openLines(api: Api): Promise<Line[]> {
  const openers = { rabbitmq: openRabbitmq, nats: openNats, redis: openRedis };
  return await Promise.all(
    Object.entries(openers).map(async ([id, open]) => {
      const opened = await open({ timeoutMs: 1_000 });
      cleanUp.push(() => opened.close());
      const retryPolicy = { maxAttempts: 100, initialDelayMs: 20, maxDelayMs: 500, factor: 2 };
      const body = { ...minimalIntake(id), destination: { ...opened.destination, retryPolicy } };
      expect((await api.call("PUT", `/intakes/${id}`, { key: ADMIN_KEY, body })).status).toBe(201);
      return { id, opened };
    }),
  );
}

/** Counts submissions: faults are scheduled by it, so that they are spread over the whole run. */
interface Progress {
  submitted: number;
}

async function send(api: Api, { id }: Line, progress: Progress): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  async function client(): Promise<void> {
    for (let index = next++; index < SUBMISSIONS; index = next++) {
      const idempotencyKey = `create-${id}-${index}`.padEnd(32, "-");
      const made = await create(api, id, { body: { idempotencyKey, initialFields: { name: `n${index}` } } });
      // A server that died after creating it returns the same one again.
      expect([200, 201], JSON.stringify(made.body)).toContain(made.status);
      const { body } = made;
      const reply = await submit(api, body.resumeToken, `submit-${index}`, { headers: { prefer: "wait=0" } });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      ids.push(body.submissionId);
      progress.submitted += 1;
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return ids;
}

/** A third of the time the connections to the queues are cut. The worker dies again and again, with and without connections. */
async function trouble(lines: Line[], progress: Progress, kill: () => Promise<void>): Promise<void> {
  const ways = lines.map(({ opened }) => opened.way).filter((way) => "cut" in way);
  expect(ways).toHaveLength(lines.length);
  const total = SUBMISSIONS * lines.length;
  const after = (round: number): Promise<true> =>
    until(() => progress.submitted >= (total * round) / (KILLS + 1) || undefined, TIMEOUT);
  for (let round = 0; round < KILLS; round++) {
    await after(round + 1 / 3);
    await Promise.all(ways.map((way) => way.cut()));
    if (round % 2 === 0) await kill();
    await after(round + 2 / 3);
    await Promise.all(ways.map((way) => way.mend()));
    if (round % 2 === 1) await kill();
  }
}

async function judge(api: Api, line: Line, ids: string[]): Promise<number> {
  const records: Loose[] = [];
  for (const id of ids) {
    records.push(
      await until(async () => {
        const { body } = await api.call("GET", `/submissions/${id}`, { key: ADMIN_KEY });
        return body.state === "finalized" ? body : undefined;
      }, TIMEOUT),
    );
  }
  const got = await line.opened.received();
  const bodies = Map.groupBy(got, ({ id }) => id);
  expect(new Set(records.map(({ deliveryState }) => deliveryState.deliveryId)).size).toBe(SUBMISSIONS);
  for (const { deliveryState } of records) {
    const mine = bodies.get(deliveryState.deliveryId) ?? [];
    expect(mine.length, `${line.id}: ${deliveryState.deliveryId} arrived`).toBeGreaterThan(0);
    expect(new Set(mine.map(({ body }) => body)).size).toBe(1);
  }
  return got.length;
}

test.each([
  ["the server itself, on SQLite", embedded],
  ["workers of their own, on PostgreSQL", besideWorkers],
])(
  "[DELIVERY-AT-LEAST-ONCE] when workers die and connections to RabbitMQ, NATS and Redis break, nothing is lost: %s",
  {
    timeout: TIMEOUT,
  },
  async (name, start) => {
    const scene = await start();
    cleanUp.push(scene.end);
    const api = patient(scene.url);
    const lines = await openLines(api);
    const progress: Progress = { submitted: 0 };
    const [sent] = await Promise.all([
      Promise.all(lines.map((line) => send(api, line, progress))),
      trouble(lines, progress, () => scene.kill()),
    ]);
    for (const [index, line] of lines.entries()) {
      const messages = await judge(api, line, sent[index] ?? []);
      process.stdout.write(`delivery to ${line.id}, ${name}: ${SUBMISSIONS} submitted, ${messages} messages\n`);
    }
  },
);
