import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import type { ConfirmChannel, GetMessage } from "amqplib";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Relay, startRelay } from "../../../test/support/relay.ts";
import { freePort } from "../../../test/support/services/programs.ts";
import { natsUrl, rabbitmqUrl } from "../../../test/support/services/queues.ts";
import { redisUrl } from "../../../test/support/services/redis.ts";
import { type CourierOptions, createCourier } from "../src/index.ts";
import { outgoingTo, sendTo } from "./outgoing.ts";
import { natsAdmin } from "./receivers.ts";

// The first test to need it waits until it has started, which takes long on a busy machine.
beforeAll(rabbitmqUrl, 180_000);

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const newName = (): string => `orders-${randomUUID()}`;

function courierWith(more: CourierOptions = {}) {
  const courier = createCourier({ allowPrivate: true, timeoutMs: 20_000, ...more });
  undo.push(() => courier.close());
  return courier;
}

async function relayTo(url: string): Promise<{ relay: Relay; url: string }> {
  const through = new URL(url);
  const relay = await startRelay({ host: "127.0.0.1", port: Number(through.port) });
  undo.push(relay.close);
  through.port = String(relay.port);
  return { relay, url: through.href };
}

/** The next message of a queue; throws if there is none. */
async function nextOf(channel: ConfirmChannel, queue: string): Promise<GetMessage> {
  const message = await channel.get(queue);
  if (message === false) throw new Error("the queue is empty");
  return message;
}

interface Silent {
  host: string;
  port: number;
  connections(): Promise<number>;
}

let silentPort = 0;
/** Accepts connections on a loopback port, whatever the host, and never says anything. */
async function listenSilently(host: string): Promise<Silent> {
  silentPort ||= await freePort();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.resume();
  }).listen(silentPort, host);
  await once(server, "listening");
  undo.push(() => server.close());
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { host, port: silentPort, connections };
}

async function rabbitmq(): Promise<{ url: string; channel: ConfirmChannel }> {
  const { connect } = await import("amqplib");
  const url = await rabbitmqUrl();
  const connection = await connect(url);
  undo.push(() => connection.close());
  return { url, channel: await connection.createConfirmChannel() };
}

describe("RabbitMQ", () => {
  it("[COURIER-QUEUE-CONFIRMED] a message that reaches no queue was not accepted", async () => {
    const { url, channel } = await rabbitmq();
    const exchange = newName();
    await channel.assertExchange(exchange, "direct", { durable: false, autoDelete: true });
    const courier = courierWith();
    const destination = { kind: "queue", url: `${url}?exchange=${exchange}`, name: "orders" } as const;
    const receipt = await sendTo(courier, destination);
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("to no queue") });

    const { queue } = await channel.assertQueue("", { exclusive: true });
    await channel.bindQueue(queue, exchange, "orders");
    expect(await sendTo(courier, destination)).toEqual({ kind: "accepted" });
    const message = await nextOf(channel, queue);
    expect(message.fields).toMatchObject({ exchange, routingKey: "orders" });
  });

  it("a message is persistent, has the delivery's id, and says what it is", async () => {
    const { url, channel } = await rabbitmq();
    const name = newName();
    expect(await sendTo(courierWith(), { kind: "queue", url, name })).toEqual({ kind: "accepted" });
    undo.push(() => channel.deleteQueue(name));
    const message = await nextOf(channel, name);
    expect(message.properties).toMatchObject({
      messageId: "dlv_0199-1",
      deliveryMode: 2,
      contentType: "application/json",
      timestamp: Date.UTC(2026, 0, 1) / 1000,
      headers: { tenant: "default", intakeId: "orders", submissionId: "sub_0199-1" },
    });
    expect(message.content.toString()).toBe(outgoingTo({ kind: "queue", url: "", name: "" }).body);
  });

  it("the queue is created as durable, and an existing one is used as it is", async () => {
    const { url, channel } = await rabbitmq();
    const [ours, theirs] = [newName(), newName()];
    undo.push(
      () => channel.deleteQueue(ours),
      () => channel.deleteQueue(theirs),
    );
    await channel.assertQueue(theirs, { durable: true, arguments: { "x-max-length": 10 } });
    const courier = courierWith();
    for (const name of [ours, theirs])
      expect(await sendTo(courier, { kind: "queue", url, name })).toEqual({ kind: "accepted" });
    expect(await channel.assertQueue(ours, { durable: true })).toMatchObject({ messageCount: 1 });
    expect(await channel.checkQueue(theirs)).toMatchObject({ messageCount: 1 });
  });

  it("[COURIER-QUEUE-CONFIRMED] a queue that was deleted meanwhile fails one attempt, and is created again by the next", async () => {
    const { url, channel } = await rabbitmq();
    const name = newName();
    const courier = courierWith();
    expect(await sendTo(courier, { kind: "queue", url, name })).toEqual({ kind: "accepted" });
    await channel.deleteQueue(name);
    expect(await sendTo(courier, { kind: "queue", url, name })).toMatchObject({ kind: "failed" });
    expect(await sendTo(courier, { kind: "queue", url, name })).toEqual({ kind: "accepted" });
    expect(await channel.deleteQueue(name)).toEqual({ messageCount: 1 });
  });
});

describe("NATS", () => {
  /** A new subject and a courier for it. */
  async function newSubject() {
    const { connection, streams } = await natsAdmin();
    undo.push(() => connection.close());
    const name = newName();
    const destination = { kind: "queue", url: await natsUrl(), name } as const;
    async function take(): Promise<void> {
      await streams.add({ name, subjects: [name] });
      undo.push(() => streams.delete(name));
    }
    return { courier: courierWith(), destination, streams, name, take };
  }

  it("[COURIER-QUEUE-CONFIRMED] a subject without a stream fails, and is accepted once there is one", async () => {
    const { courier, destination, take } = await newSubject();
    const receipt = await sendTo(courier, destination);
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("no stream accepts its subject") });
    await take();
    expect(await sendTo(courier, destination)).toEqual({ kind: "accepted" });
  });

  it("a message that is too large for the server fails, and the next one is accepted", async () => {
    const { courier, destination, take } = await newSubject();
    await take();
    const receipt = await sendTo(courier, destination, { body: JSON.stringify("x".repeat(2_000_000)) });
    expect(receipt).toEqual({
      kind: "failed",
      error: "The queue failed: the message is larger than the server accepts.",
    });
    expect(await sendTo(courier, destination)).toEqual({ kind: "accepted" });
  });

  it("[COURIER-QUEUE-ID] JetStream itself drops a delivery that comes twice", async () => {
    const { courier, destination, streams, name, take } = await newSubject();
    await take();
    for (const attempt of [1, 2]) expect(await sendTo(courier, destination, { attempt })).toEqual({ kind: "accepted" });
    expect((await streams.info(name)).state.messages).toBe(1);
  });
});

describe("Redis", () => {
  it("[COURIER-QUEUE-ID] an entry has the delivery's id, what it belongs to, and the body", async () => {
    const { createClient } = await import("redis");
    const url = await redisUrl();
    const client = createClient({ url });
    await client.connect();
    undo.push(() => client.destroy());
    const name = newName();
    expect(await sendTo(courierWith(), { kind: "queue", url, name })).toEqual({ kind: "accepted" });
    const [entry] = (await client.xRange(name, "-", "+")) ?? [];
    expect(entry?.message).toEqual({
      id: "dlv_0199-1",
      tenant: "default",
      intakeId: "orders",
      submissionId: "sub_0199-1",
      submittedAt: "2026-01-01T00:00:00.000Z",
      body: outgoingTo({ kind: "queue", url: "", name: "" }).body,
    });
    await client.unlink(name);
    await client.set(name, "no stream");
    const receipt = await sendTo(courierWith(), { kind: "queue", url, name });
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("it answered WRONGTYPE") });
    await client.unlink(name);
  });
});

const SERVERS = { RabbitMQ: rabbitmqUrl, NATS: natsUrl, Redis: redisUrl };

describe.each(Object.entries(SERVERS))("any queue: %s", (server, urlOf) => {
  /** A destination that accepts messages. */
  async function destinationAt(url: string) {
    const name = newName();
    if (server === "NATS") {
      const { connection, streams } = await natsAdmin();
      await streams.add({ name, subjects: [name] });
      undo.push(
        () => connection.close(),
        () => streams.delete(name),
      );
    }
    return { kind: "queue", url, name } as const;
  }

  it("one connection carries all messages to a URL, and closes after a while without use", async () => {
    const { relay, url } = await relayTo(await urlOf());
    const courier = courierWith({ idleMs: 300 });
    const [one, other] = [await destinationAt(url), await destinationAt(url)];
    const receipts = await Promise.all(
      [one, other, one, other].map((to, i) => sendTo(courier, to, { deliveryId: `dlv_${i}` })),
    );
    expect(receipts).toEqual(receipts.map(() => ({ kind: "accepted" })));
    expect(relay.connections()).toBe(1);
    await expect.poll(relay.connections, { timeout: 15_000 }).toBe(0);
    expect(await sendTo(courier, one)).toEqual({ kind: "accepted" });
  });

  it("[COURIER-NO-SECRETS] a refused login fails with a message without the login", async () => {
    const url = new URL(await urlOf());
    url.username = "eve-secret";
    url.password = "password-secret";
    const receipt = await sendTo(courierWith(), { kind: "queue", url: url.href, name: "orders" });
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("it refuses the login") });
    expect(JSON.stringify(receipt)).not.toMatch(/secret|127\.0/);
  });

  it("[COURIER-TIME-OUT] a server that answers something else, or nothing, gives a failed receipt in time", async () => {
    for (const says of ["", "HTTP/1.1 400 Bad Request\r\n\r\n", "\0\0\0\0\0\0\0\0"]) {
      const stranger = createServer((socket) => {
        socket.on("error", () => {});
        socket.resume().write(says);
      }).listen(0, "127.0.0.1");
      await once(stranger, "listening");
      undo.push(() => stranger.close());
      const url = new URL(await urlOf());
      url.port = String((stranger.address() as { port: number }).port);
      const start = performance.now();
      const courier = courierWith({ timeoutMs: 500 });
      expect(await sendTo(courier, { kind: "queue", url: url.href, name: "orders" })).toMatchObject({ kind: "failed" });
      expect(performance.now() - start).toBeLessThan(5_000);
      await courier.close();
      const open = () => new Promise((resolve) => stranger.getConnections((_, count) => resolve(count)));
      await expect.poll(open, { timeout: 15_000 }).toBe(0);
    }
  });

  it("a name with several addresses is tried at each, and a silent one is not waited for", async () => {
    const url = new URL(await urlOf());
    url.hostname = "queue.example";
    const destination = await destinationAt(url.href);
    // Nothing listens on the first address.
    const courier = courierWith({ resolve: async () => ["127.0.0.2", "127.0.0.1"] });
    expect(await sendTo(courier, destination)).toEqual({ kind: "accepted" });

    const silent = await Promise.all(["127.0.0.3", "127.0.0.4"].map((host) => listenSilently(host)));
    const [one, other] = silent as [Silent, Silent];
    const resolve = async () => [one.host, other.host];
    url.port = String(one.port);
    const waiting = courierWith({ resolve, timeoutMs: 1_000 });
    expect(await sendTo(waiting, { ...destination, url: url.href })).toMatchObject({ kind: "failed" });
    await waiting.close();
    for (const { connections } of silent) await expect.poll(connections, { timeout: 15_000 }).toBe(0);
  });

  it("[COURIER-GUARD-PINNED] a name is resolved once for a connection, and checked", async () => {
    const url = new URL(await urlOf());
    url.hostname = "queue.example";
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ["127.0.0.1"];
    };
    const destination = await destinationAt(url.href);
    expect(await sendTo(courierWith({ resolve }), destination)).toEqual({ kind: "accepted" });
    expect(asked).toEqual(["queue.example"]);
    const receipt = await sendTo(courierWith({ resolve, allowPrivate: false }), destination);
    expect(receipt).toMatchObject({ kind: "failed", error: expect.stringContaining("resolves to a loopback address") });
  });
});

it("a destination without a name is refused permanently", async () => {
  const receipt = await sendTo(courierWith(), { kind: "queue", url: "redis://127.0.0.1:1", name: "" });
  expect(receipt).toMatchObject({ kind: "failed", final: true });
});
