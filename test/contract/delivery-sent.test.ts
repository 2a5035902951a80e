import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "../../examples/receive-webhook.ts";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { created, read, submit, until } from "../support/moves.ts";

const SENDS = { FORMBRIDGE_WORKER: "on", FORMBRIDGE_DELIVERY_WAIT_MS: "20000" };
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const receivers: Server[] = [];
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.close();
});

async function startReceiver(): Promise<{ url: string; orders: unknown[]; requests: () => number }> {
  const orders: unknown[] = [];
  let requests = 0;
  const server = createReceiver(SECRET, (order) => void orders.push(order)).listen(0, "127.0.0.1");
  server.on("request", () => {
    requests += 1;
  });
  receivers.push(server);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/hook`, orders, requests: () => requests };
}

const submitTo = async (server: TestServer, id: string): Promise<Loose> => {
  const { resumeToken, submissionId } = await created(server, id, { body: { initialFields: { name: "Ada ☂" } } });
  return { submissionId, ...(await submit(server, resumeToken, `submit-${submissionId}`)).body };
};

it("the example receiver accepts a delivery once, and nothing unsigned", async () => {
  const { url, orders } = await startReceiver();
  const body = JSON.stringify({ type: "submission.delivery" });
  const at = new Date();
  const signed = (secret: string) => ({
    "webhook-id": "dlv_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("dlv_1", at, body),
  });
  const post = async (headers: Record<string, string>) => (await fetch(url, { method: "POST", body, headers })).status;
  expect([
    await post({}),
    await post(signed("whsec_b3RoZXI=")),
    await post(signed(SECRET)),
    await post(signed(SECRET)),
  ]).toEqual([401, 401, 204, 204]);
  expect(orders).toEqual([JSON.parse(body)]);
});

describe("a server that may deliver to its own network", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { ...SENDS, FORMBRIDGE_ALLOW_PRIVATE_TARGETS: "1" } });
  });
  afterAll(() => server.stop());

  it("[COURIER-WEBHOOK-SIGNED] [DELIVERY-FINALIZES] a submit is finalized when the receiver has accepted it, signed with the definition's secret", async () => {
    const { url, orders, requests } = await startReceiver();
    await server.putIntake({ id: "hooked", destination: { kind: "webhook", url, secret: SECRET } });
    const { submissionId, state } = await submitTo(server, "hooked");
    expect(state).toBe("finalized");
    expect(orders).toEqual([
      expect.objectContaining({
        type: "submission.delivery",
        data: expect.objectContaining({ submissionId, fields: { name: "Ada ☂" } }),
      }),
    ]);
    expect(requests()).toBe(1);
  });

  it("[COURIER-DESTINATION-CHECKED] accepts every example of a destination, and names what is wrong with others", async () => {
    const folder = new URL("../../examples/destinations/", import.meta.url);
    const names = readdirSync(folder);
    expect(names.toSorted()).toEqual(["callback.json", "nats.json", "rabbitmq.json", "redis.json", "webhook.json"]);
    for (const name of names) {
      const definition = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
      // A callback is served only by the program that has it.
      expect((await server.putIntake(definition)).status, name).toBe(name === "callback.json" ? 422 : 201);
    }
    const bad = { kind: "queue" as const, url: "amqp://", headers: { Host: "x" } };
    const reply = await server.putIntake({ id: "bad", destination: bad });
    expect(reply.status).toBe(422);
    expect(reply.body.error.fields.map(({ path }: Loose) => path)).toEqual([
      "destination.url",
      "destination.name",
      "destination.headers.Host",
    ]);
  });
});

it("[COURIER-GUARD] [COURIER-NO-SECRETS] a server that may not deliver there refuses, and reports it without the address", async () => {
  const { url, requests } = await startReceiver();
  const server = await startTestServer({ env: SENDS });
  try {
    await server.putIntake({ id: "inside", destination: { kind: "webhook", url, secret: SECRET } });
    const { submissionId, state } = await submitTo(server, "inside");
    expect(state).toBe("submitted");
    const record = await until(async () => {
      const { body } = await read(server, submissionId, server.adminKey);
      return body.deliveryState.givenUp === true ? body : undefined;
    });
    expect(record.deliveryState.lastError).toBe(
      "The webhook failed: it is a loopback address, and deliveries to such addresses are blocked.",
    );
    expect(requests()).toBe(0);
  } finally {
    await server.stop();
  }
});
