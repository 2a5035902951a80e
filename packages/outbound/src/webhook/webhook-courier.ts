import { WEBHOOK_SCHEMES, type WebhookDestination } from "@formbridge/contract";
import type { Courier } from "@formbridge/core";
import type { Guard } from "../guard/create-guard.ts";
import { readTarget } from "../guard/read-target.ts";
import { readUrl } from "../read-url.ts";
import { createTimedCourier } from "../timed-courier.ts";
import { createConnections } from "./connections.ts";
import { headersFor } from "./headers.ts";
import { createPost, type SendPost } from "./post.ts";
import { readAnswer } from "./read-answer.ts";
import { signatureHeaders } from "./signing.ts";

export interface WebhookOptions {
  guard: Guard;
  timeoutMs: number;
  /** The clock for timestamps, and for dates in responses. */
  now: () => number;
  post?: SendPost;
}

/** Posts submissions, signed according to Standard Webhooks. A 2xx response accepts the delivery. */
export function createWebhookCourier({
  guard,
  timeoutMs,
  now,
  ...options
}: WebhookOptions): Courier<WebhookDestination> {
  const connections = createConnections({ timeoutMs });
  const { post = createPost(connections) } = options;
  return createTimedCourier({
    timeoutMs,
    about: "The webhook",
    release: () => connections.close(),
    async deliver(outgoing, signal) {
      const { destination, deliveryId, body, secrets, traceparent } = outgoing;
      const url = readUrl(destination.url, WEBHOOK_SCHEMES);
      const target = readTarget(url);
      const addresses = await guard(target, signal);
      // Without a trailing dot, because certificates are for the name without it.
      if (!target.isAddress) url.hostname = target.host;
      const signature = signatureHeaders({ id: deliveryId, body, secrets, now: now() });
      const ours = { ...signature, ...(traceparent !== undefined && { traceparent }) };
      const headers = headersFor({ url, ...(destination.headers && { own: destination.headers }) }, ours);
      const answer = await post({ url, addresses, headers, body }, signal);
      return readAnswer(answer, now());
    },
  });
}
