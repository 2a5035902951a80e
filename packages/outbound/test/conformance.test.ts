import { describeCourier } from "@formbridge/conformance";
import { beforeAll } from "vitest";
import { rabbitmqUrl } from "../../../test/support/services/queues.ts";
import { openCallback, openNats, openRabbitmq, openRedis, openWebhook } from "./receivers.ts";

// The first test to need it waits until it has started, which takes long on a busy machine.
beforeAll(rabbitmqUrl, 180_000);

describeCourier("webhook", openWebhook);
describeCourier("RabbitMQ", openRabbitmq);
describeCourier("NATS JetStream", openNats);
describeCourier("Redis stream", openRedis);
describeCourier("callback", openCallback);
