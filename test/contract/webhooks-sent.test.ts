import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createReceiver } from "../../examples/receive-webhook.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { eventsOf } from "../support/moves.ts";
import { onceSo, postWebhook, pushed, written } from "../support/webhooks.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;

/** With the couriers that a server has by default. */
let server: TestServer;
let url: string;
const orders: Loose[] = [];
const receiver = createReceiver(SECRET, (order) => void orders.push(order)).listen(0, "127.0.0.1");

beforeAll(async () => {
  if (!receiver.listening) await once(receiver, "listening");
  url = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/events`;
  server = await startTestServer({ env: { FORMBRIDGE_WORKER: "on", FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1" } });
  await server.putIntake({ id: "hooked" });
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});

it("[WEBHOOK-BODY] [WEBHOOK-SECRET] a receiver that verifies signatures accepts every event, in order", async () => {
  await postWebhook(server, { url, intakes: ["hooked"], secret: SECRET });
  const submissionId = await written(server, "hooked", 2);
  await pushed(server);
  const events = await eventsOf(server, submissionId, "");
  expect(orders).toEqual(events.map((event) => ({ type: event.type, timestamp: event.ts, data: event })));
});

it("[WEBHOOK-RETRIED] [WEBHOOK-SECRET] one with another secret is retried", async () => {
  const { body } = await postWebhook(server, { url, intakes: ["hooked"] });
  await written(server, "hooked", 0);
  const failed = await onceSo(server, body.webhook.webhookId, ({ failures }) => failures === 1);
  expect(failed).toMatchObject({ state: "active", lastError: expect.stringContaining("401") });
  expect(failed.lastError).not.toContain("127.0.0.1");
});
