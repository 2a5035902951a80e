/** The servers that the story needs beside FormBridge, each of them real, on loopback and gone after it. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Destination } from "@formbridge/contract";
import amqp from "amqplib";
import { startRabbitmq } from "../../test/support/services/start-rabbitmq.ts";
import { partsOf, startSmtp } from "../../test/support/smtp.ts";
import { createReceiver } from "../receive-webhook.ts";

/** Polls: most of the story happens elsewhere. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

export interface Running {
  url: string;
  stop(): Promise<unknown>;
}

export interface MailServer extends Running {
  /** The text of the next mail to this address. */
  nextTo(address: string): Promise<string>;
}

/** Accepts mail for anybody, and keeps it. */
export async function startMailServer(): Promise<MailServer> {
  const { port, received, close } = await startSmtp();
  return {
    url: `smtp://127.0.0.1:${port}`,
    async nextTo(address) {
      const isFor = ({ to }: { to: string[] }): boolean => to.includes(address);
      await until(() => received.some(isFor));
      const [mail] = received.splice(received.findIndex(isFor), 1);
      return partsOf(mail?.raw ?? "").text;
    },
    stop: close,
  };
}

/** Where the story ends. */
export interface Receiver extends Running {
  name: string;
  destination: Destination;
  /** What arrived, once. */
  take(): Promise<{ id: string; body: unknown } | undefined>;
}

const QUEUE = "suppliers";

/** RabbitMQ where it is installed and can be started, a webhook elsewhere. */
export async function startReceiver({ wantsWebhook }: { wantsWebhook: boolean }): Promise<Receiver> {
  return (wantsWebhook ? undefined : await startQueue().catch(() => undefined)) ?? (await startWebhook());
}

async function startQueue(): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), "formbridge-story-"));
  const { details, stop } = await startRabbitmq(folder).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const { url = "" } = details;
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  return {
    name: "RabbitMQ",
    url,
    destination: { kind: "queue", url, name: QUEUE },
    async take() {
      const message = await channel.get(QUEUE, { noAck: true });
      if (message === false) return undefined;
      return { id: String(message.properties.messageId), body: JSON.parse(message.content.toString("utf8")) };
    },
    async stop() {
      await connection.close();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const DELIVERY_SECRET = "whsec_dGhlIHNlY3JldCBvZiB0aGUgcmVjZWl2ZXIgaGVyZQ==";

async function startWebhook(): Promise<Receiver> {
  const arrived: { data: { deliveryId: string } }[] = [];
  const server = createReceiver(DELIVERY_SECRET, (delivery) => void arrived.push(delivery as (typeof arrived)[number]));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/suppliers`;
  return {
    name: "receiver",
    url,
    destination: { kind: "webhook", url, secret: DELIVERY_SECRET },
    async take() {
      const body = arrived.shift();
      return body && { id: body.data.deliveryId, body };
    },
    stop: async () => server.close().closeAllConnections(),
  };
}

export interface Listener extends Running {
  /** Types of the events that came, in order; every signature was checked. */
  heard: string[];
}

export async function startListener(secret: string): Promise<Listener> {
  const heard: string[] = [];
  const server = createReceiver(secret, (delivery) => void heard.push((delivery as { type: string }).type));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    heard,
    stop: async () => server.close().closeAllConnections(),
  };
}
