import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { OpenedCourier, Received } from "@formbridge/conformance";
import type { Destination } from "@formbridge/contract";
import { Webhook } from "standardwebhooks";
import { type Relay, startRelay } from "../../../test/support/relay.ts";
import { natsUrl, rabbitmqUrl } from "../../../test/support/services/queues.ts";
import { redisUrl } from "../../../test/support/services/redis.ts";
import { createCourier } from "../src/index.ts";

interface Timed {
  timeoutMs: number;
}

const portOf = ({ port }: URL): number => Number(port);
const newName = (): string => `orders-${randomUUID()}`;

interface Receiver {
  destination: Destination;
  received(): Promise<Received[]>;
  close(): Promise<void>;
}

function opened({ timeoutMs }: Timed, relay: Relay, receiver: Receiver): OpenedCourier {
  return {
    courier: createCourier({ allowPrivate: true, timeoutMs }),
    way: relay,
    destination: receiver.destination,
    received: receiver.received,
    async close() {
      await relay.close();
      await receiver.close();
    },
  };
}

/** A server's URL through a relay. */
async function relayed(url: string): Promise<{ relay: Relay; url: string }> {
  const through = new URL(url);
  const relay = await startRelay({ host: "127.0.0.1", port: portOf(through) });
  through.port = String(relay.port);
  return { relay, url: through.href };
}

/** Accepts what the official verifier accepts. */
export async function openWebhook(options: Timed): Promise<OpenedCourier> {
  const verifier = new Webhook("whsec_c2VjcmV0IG9mIHRoZSBzdWl0ZQ==");
  const got: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    try {
      verifier.verify(body, request.headers as Record<string, string>);
      got.push({ id: String(request.headers["webhook-id"]), body });
      response.end("thanks");
    } catch {
      response.writeHead(401).end();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const { relay, url } = await relayed(`http://127.0.0.1:${port}/hook`);
  return opened(options, relay, {
    destination: { kind: "webhook", url },
    received: async () => [...got],
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
}

export async function openRabbitmq(options: Timed): Promise<OpenedCourier> {
  const { connect } = await import("amqplib");
  const direct = await rabbitmqUrl();
  const { relay, url } = await relayed(direct);
  const name = newName();
  return opened(options, relay, {
    destination: { kind: "queue", url, name },
    async received() {
      const connection = await connect(direct);
      const channel = await connection.createChannel();
      const got: Received[] = [];
      for (let next = await channel.get(name); next !== false; next = await channel.get(name)) {
        got.push({ id: next.properties.messageId, body: next.content.toString("utf8") });
      }
      await connection.close();
      return got;
    },
    async close() {
      const connection = await connect(direct);
      const channel = await connection.createChannel();
      await channel.deleteQueue(name);
      await connection.close();
    },
  });
}

/** A NATS connection and its streams. */
export async function natsAdmin() {
  const { connect } = await import("@nats-io/transport-node");
  const { jetstreamManager } = await import("@nats-io/jetstream");
  const { host, username, password } = new URL(await natsUrl());
  const connection = await connect({ servers: host, user: username, pass: password });
  return { connection, streams: (await jetstreamManager(connection)).streams };
}

export async function openNats(options: Timed): Promise<OpenedCourier> {
  const { connection, streams } = await natsAdmin();
  const name = newName();
  await streams.add({ name, subjects: [name] });
  const { relay, url } = await relayed(await natsUrl());
  return opened(options, relay, {
    destination: { kind: "queue", url, name },
    async received() {
      const { state } = await streams.info(name);
      const got: Received[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await streams.getMessage(name, { seq });
        if (message !== null) got.push({ id: message.header.get("Nats-Msg-Id"), body: message.string() });
      }
      return got;
    },
    async close() {
      await streams.delete(name);
      await connection.close();
    },
  });
}

export async function openRedis(options: Timed): Promise<OpenedCourier> {
  const { createClient } = await import("redis");
  const direct = await redisUrl();
  const { relay, url } = await relayed(direct);
  const name = newName();
  const client = createClient({ url: direct });
  await client.connect();
  return opened(options, relay, {
    destination: { kind: "queue", url, name },
    received: async () =>
      ((await client.xRange(name, "-", "+")) ?? []).map(({ message }) => ({
        id: message.id ?? "",
        body: message.body ?? "",
      })),
    async close() {
      await client.unlink(name);
      client.destroy();
    },
  });
}

export async function openCallback({ timeoutMs }: Timed): Promise<OpenedCourier> {
  const got: Received[] = [];
  const callbacks = {
    orders: ({ deliveryId: id, body }: { deliveryId: string; body: string }) => void got.push({ id, body }),
  };
  return {
    courier: createCourier({ callbacks, timeoutMs }),
    way: { whyNone: "a function of the same process is always there" },
    destination: { kind: "callback", name: "orders" },
    received: async () => [...got],
    close: async () => {},
  };
}
