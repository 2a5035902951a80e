import { QUEUE_SCHEMES, type QueueDestination } from "@formbridge/contract";
import type { Courier } from "@formbridge/core";
import { ACCEPTED, Refusal } from "../failure.ts";
import type { Guard } from "../guard/create-guard.ts";
import { readTarget } from "../guard/read-target.ts";
import { readUrl } from "../read-url.ts";
import { createTimedCourier } from "../timed-courier.ts";
import { openAmqpConnection } from "./amqp-connection.ts";
import type { OpenConnection } from "./connection.ts";
import { createConnectionPool } from "./connection-pool.ts";
import { openNatsConnection } from "./nats-connection.ts";
import { openRedisConnection } from "./redis-connection.ts";

export interface QueueOptions {
  guard: Guard;
  timeoutMs: number;
  idleMs: number;
}

type Scheme = (typeof QUEUE_SCHEMES)[number];

const OPEN = {
  "amqp:": openAmqpConnection,
  "amqps:": openAmqpConnection,
  "nats:": openNatsConnection,
  "tls:": openNatsConnection,
  "redis:": openRedisConnection,
  "rediss:": openRedisConnection,
} as const satisfies Record<Scheme, OpenConnection>;

/** Sends submissions to RabbitMQ, NATS JetStream or a Redis stream, depending on the URL's scheme. */
export function createQueueCourier({ guard, timeoutMs, idleMs }: QueueOptions): Courier<QueueDestination> {
  const connections = createConnectionPool({
    timeoutMs,
    idleMs,
    async open(text, signal) {
      const url = readUrl(text, QUEUE_SCHEMES);
      const target = readTarget(url);
      const addresses = await guard(target, signal);
      return OPEN[url.protocol as Scheme]({ url, target, addresses }, signal);
    },
  });
  return createTimedCourier({
    timeoutMs,
    about: "The queue",
    async deliver(outgoing, signal) {
      const { destination, deliveryId: id, body, tenant, intakeId, submissionId, submittedAt } = outgoing;
      const { url, name } = destination;
      if (name === "") throw new Refusal("the destination has no name to publish to", "final");
      const message = { id, name, body, tenant, intakeId, submissionId, submittedAt };
      await connections.use(url, signal, (connection) => connection.publish(message, signal));
      return ACCEPTED;
    },
    release: () => connections.close(),
  });
}
