import { QUEUE_SCHEMES } from "@formbridge/contract";
import type { Courier } from "@formbridge/core";
import { Refusal, TAKEN } from "../failure.ts";
import type { Guard } from "../guard/create-guard.ts";
import { readTarget } from "../guard/read-target.ts";
import { readUrl } from "../read-url.ts";
import { createTimedCourier } from "../timed-courier.ts";
import { openAmqpLine } from "./amqp-line.ts";
import type { OpenLine } from "./line.ts";
import { createLinePool } from "./line-pool.ts";
import { openNatsLine } from "./nats-line.ts";
import { openRedisLine } from "./redis-line.ts";

export interface QueueOptions {
  guard: Guard;
  timeoutMs: number;
  idleMs: number;
}

type Scheme = (typeof QUEUE_SCHEMES)[number];

const OPEN = {
  "amqp:": openAmqpLine,
  "amqps:": openAmqpLine,
  "nats:": openNatsLine,
  "tls:": openNatsLine,
  "redis:": openRedisLine,
  "rediss:": openRedisLine,
} as const satisfies Record<Scheme, OpenLine>;

/** Puts submissions into queues: RabbitMQ, NATS JetStream or a Redis stream, by the scheme of the URL. */
export function createQueueCourier({ guard, timeoutMs, idleMs }: QueueOptions): Courier {
  const lines = createLinePool({
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
    async carry(parcel, signal) {
      const { destination, deliveryId: id, body, tenant, intakeId, submissionId, submittedAt } = parcel;
      const { url = "", name = "" } = destination;
      if (name === "") throw new Refusal("the destination has no name to publish to", "final");
      const message = { id, name, body, tenant, intakeId, submissionId, submittedAt };
      await lines.use(url, signal, (line) => line.publish(message, signal));
      return TAKEN;
    },
    release: () => lines.close(),
  });
}
