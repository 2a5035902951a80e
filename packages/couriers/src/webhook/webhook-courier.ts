import { WEBHOOK_SCHEMES } from "@formbridge/contract";
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
  /** The clock of timestamps, and of dates in answers. */
  now: () => number;
  post?: SendPost;
}

/** Posts submissions, signed as Standard Webhooks says. Taken is what is answered with 2xx. */
export function createWebhookCourier({ guard, timeoutMs, now, ...options }: WebhookOptions): Courier {
  const connections = createConnections({ timeoutMs });
  const { post = createPost(connections) } = options;
  return createTimedCourier({
    timeoutMs,
    about: "The webhook",
    release: () => connections.close(),
    async carry(parcel, signal) {
      const { destination, deliveryId, body, secrets } = parcel;
      const url = readUrl(destination.url, WEBHOOK_SCHEMES);
      const target = readTarget(url);
      const addresses = await guard(target, signal);
      // Without the dot that a name may end in: certificates are for the name without it.
      if (!target.isAddress) url.hostname = target.host;
      const signature = signatureHeaders({ id: deliveryId, body, secrets, now: now() });
      const headers = headersFor({ url, ...(destination.headers && { own: destination.headers }) }, signature);
      const answer = await post({ url, addresses, headers, body }, signal);
      return readAnswer(answer, now());
    },
  });
}
