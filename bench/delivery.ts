import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, request } from "undici";
import { ADMIN_KEY, startOurs } from "./server-process.ts";

export interface DeliveryRate {
  deliveries: number;
  perSecond: number;
  /** Plain requests to the same receiver with the same concurrency, in the same run. */
  floorPerSecond: number;
}

const DELIVERIES = 5_000;
/** The default limit for one destination. */
const AT_ONCE = 32;
const CLIENTS = 32;
const WARM_UP = 1_000;

interface Receiver {
  url: string;
  /** Resolves when this many more requests have arrived, with the time of the last. */
  received(more: number): Promise<number>;
  stop(): void;
}

async function startReceiver(): Promise<Receiver> {
  let count = 0;
  const marks = new Map<number, (at: number) => void>();
  const server = createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      response.writeHead(204).end();
      count += 1;
      marks.get(count)?.(performance.now());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: (more) => new Promise((resolve) => void marks.set(count + more, resolve)),
    stop: () => server.close().closeAllConnections(),
  };
}

async function each(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const line = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

async function call(url: string, method: "PUT" | "POST", body: object): Promise<Record<string, string>> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${ADMIN_KEY}`, prefer: "wait=0" };
  const answer = await request(url, { method, headers, body: JSON.stringify(body) });
  const told = (await answer.body.json()) as Record<string, string>;
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${JSON.stringify(told)}`);
  return told;
}

/** Submits while nothing is delivered, so that only delivery is measured. */
async function fillOutbox(folder: string, url: string): Promise<void> {
  const server = await startOurs(folder, { env: { FORMBRIDGE_WORKER: "off" } });
  const base = `http://127.0.0.1:${server.port}`;
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const destination = { kind: "webhook", url };
  try {
    await call(`${base}/intakes/sent`, "PUT", { id: "sent", version: "1", name: "Sent", schema, destination });
    await each(DELIVERIES, CLIENTS, async (index) => {
      const initialFields = { name: `Submission ${index}` };
      const { resumeToken } = await call(`${base}/intakes/sent/submissions`, "POST", { initialFields });
      await call(`${base}/resume/${resumeToken}/submit`, "POST", { idempotencyKey: `submit-${index}` });
    });
  } finally {
    await server.stop();
  }
}

async function floor(url: string): Promise<number> {
  const dispatcher = new Agent({ connections: AT_ONCE });
  const body = JSON.stringify({ type: "submission.delivery", data: { fields: { name: "x".repeat(400) } } });
  const send = async (): Promise<void> => {
    const answer = await request(url, { method: "POST", body, dispatcher });
    await answer.body.dump();
  };
  await each(DELIVERIES / 5, AT_ONCE, send);
  const began = performance.now();
  await each(DELIVERIES, AT_ONCE, send);
  const seconds = (performance.now() - began) / 1000;
  await dispatcher.close();
  return DELIVERIES / seconds;
}

/** How many submissions per second an embedded server delivers to a receiver on the same machine. */
export async function measureDelivery(folder: string): Promise<DeliveryRate> {
  const receiver = await startReceiver();
  try {
    const floorPerSecond = await floor(receiver.url);
    await fillOutbox(folder, receiver.url);
    // Delivery starts before the server reports that it listens; what arrives until then is the warm-up.
    const warm = receiver.received(WARM_UP);
    const all = receiver.received(DELIVERIES);
    const server = await startOurs(folder, { env: { FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1" } });
    const began = await warm;
    const seconds = ((await all) - began) / 1000;
    await server.stop();
    return { deliveries: DELIVERIES, perSecond: (DELIVERIES - WARM_UP) / seconds, floorPerSecond };
  } finally {
    receiver.stop();
  }
}
