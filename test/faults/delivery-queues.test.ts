import type { OpenedCourier } from "@formbridge/conformance";
import { afterAll, expect, test } from "vitest";
import { openNats, openRabbitmq, openRedis } from "../../packages/couriers/test/receivers.ts";
import { caller, type Loose, minimalIntake } from "../support/harness.ts";
import { create, submit, until } from "../support/moves.ts";
import { type Api, besideWorkers, patient } from "./delivery-scene.ts";
import { ADMIN_KEY } from "./ledger-check.ts";

const isLong = process.env.FORMBRIDGE_LONG === "1";
/** To each queue. */
const SUBMISSIONS = isLong ? 3_000 : 15;
const KILLS = isLong ? 50 : 1;
const TIMEOUT = isLong ? 3_600_000 : 240_000;

const cleanUp: (() => unknown)[] = [];
afterAll(async () => {
  for (const undo of cleanUp.reverse()) await undo();
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
      const retryPolicy = { maxAttempts: 100, initialDelayMs: 20, maxDelayMs: 200, factor: 2 };
      const body = { ...minimalIntake(id), destination: { ...opened.destination, retryPolicy } };
      expect((await api.call("PUT", `/intakes/${id}`, { key: ADMIN_KEY, body })).status).toBe(201);
      return { id, opened };
    }),
  );
}

async function send(api: Api, { id }: Line): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < SUBMISSIONS; index++) {
    const { body } = await create(api, id, { body: { initialFields: { name: `n${index}` } } });
    expect((await submit(api, body.resumeToken, `submit-${index}`, { headers: { prefer: "wait=0" } })).status).toBe(
      200,
    );
    ids.push(body.submissionId);
  }
  return ids;
}

/** The way to each queue is cut and mended, as often as the workers die. */
async function trouble(lines: Line[], kill: () => Promise<void>): Promise<void> {
  const ways = lines.map(({ opened }) => opened.way).filter((way) => "cut" in way);
  expect(ways).toHaveLength(lines.length);
  for (let round = 0; round < KILLS; round++) {
    await Promise.all(ways.map((way) => way.cut()));
    await kill();
    await Promise.all(ways.map((way) => way.mend()));
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
  for (const { deliveryState } of records) {
    const mine = got.filter(({ id }) => id === deliveryState.deliveryId);
    expect(mine.length, `${line.id}: ${deliveryState.deliveryId} arrived`).toBeGreaterThan(0);
    expect(new Set(mine.map(({ body }) => body)).size).toBe(1);
  }
  return got.length;
}

test("[DELIVERY-AT-LEAST-ONCE] workers die and the ways to RabbitMQ, NATS and Redis break: nothing is lost", {
  timeout: TIMEOUT,
}, async () => {
  const scene = await besideWorkers();
  cleanUp.push(scene.end);
  const api = { ...patient(scene.url), call: caller(scene.url) };
  const lines = await openLines(api);
  const [sent] = await Promise.all([
    Promise.all(lines.map((line) => send(api, line))),
    trouble(lines, () => scene.kill()),
  ]);
  for (const [index, line] of lines.entries()) {
    const messages = await judge(api, line, sent[index] ?? []);
    process.stdout.write(`delivery to ${line.id}: ${SUBMISSIONS} submitted, ${messages} messages\n`);
  }
});
