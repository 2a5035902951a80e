import type { EventType } from "@formbridge/contract";
import type { ChainedEvent } from "../../domain/chained-event.ts";
import { canonicalJson } from "../../domain/hashing.ts";
import type { FailedSend } from "../../domain/webhooks/round.ts";
import type { BlockedQueue, Webhook } from "../../domain/webhooks/webhook.ts";
import type { OutgoingDelivery, Receipt } from "../../ports/courier.ts";
import type { ClaimedWebhook } from "../../ports/webhooks.ts";
import type { Context } from "../context.ts";
import type { Deps } from "../deps.ts";
import { eventView, streamsOf } from "../get-events.ts";
import { secretsAt } from "./webhook-secrets.ts";

const MAX_ERROR = 500;
const PAGE = 100;

/** The part of the tenant's feed that a webhook subscribes to. */
export const feedOf = ({ tenant, types, intakes }: Webhook) => ({
  tenant,
  streams: streamsOf(types),
  ...(types && { types }),
  ...(intakes && { intakeIds: intakes }),
});

/** The events of a blocked submission, at most a page; complete if the last one is among them or no longer exists. */
export async function queueOf(
  { deps: { backend } }: Context,
  webhook: Webhook,
  { submissionId, from, eventId, last }: BlockedQueue,
): Promise<{ events: ChainedEvent[]; isWhole: boolean }> {
  const { tenant, types } = webhook;
  const filter = { streams: streamsOf(types), ...(types && { types }) };
  const isPlaced = "position" in from;
  // By position, because the preceding event isn't known.
  const [placed] = isPlaced
    ? (await backend.events.feed(feedOf(webhook), { after: from.position - 1, limit: 1 })).events
    : [];
  const first = placed?.event.eventId === eventId ? [placed.event] : [];
  if (first.length > 0 && eventId === last) return { events: first, isWhole: true };
  const afterEventId = isPlaced ? eventId : from.after;
  const rest = (await backend.events.read({ tenant, submissionId, afterEventId, ...filter }, PAGE)) ?? [];
  const end = rest.findIndex((event) => event.eventId === last);
  return {
    events: [...first, ...(end === -1 ? rest : rest.slice(0, end + 1))],
    isWhole: end !== -1 || rest.length === 0,
  };
}

export type SendOutcome = "accepted" | "not tried" | FailedSend;

export interface Sender {
  /** Exceptions from couriers, which are bugs. */
  bugs: unknown[];
  mayBegin(): boolean;
  send(event: ChainedEvent, about: { intakeId: string; attempt: number }): Promise<SendOutcome>;
  stop(): void;
}

/**
 * Sends events to a webhook while it is leased: no sends start in the second half of the lease, and none outlasts it.
 */
export function createSender(
  deps: Deps,
  { webhook, leaseMs, signal }: { webhook: ClaimedWebhook; leaseMs: number; signal: AbortSignal },
): Sender {
  const bugs: unknown[] = [];
  const secrets = secretsAt(deps, webhook, webhook.leasedUntil - leaseMs);
  const beginUntil = performance.now() + leaseMs / 2;
  const late = new AbortController();
  const ending = AbortSignal.any([signal, late.signal]);
  const timer = setTimeout(() => late.abort(), leaseMs * 0.9);
  const mayBegin = (): boolean => !signal.aborted && performance.now() < beginUntil;

  async function deliver(outgoing: OutgoingDelivery): Promise<Receipt> {
    try {
      return await deps.courier.send(outgoing, ending);
    } catch (bug) {
      bugs.push(bug);
      return { kind: "failed", error: "The event could not be sent by the server; its log says why." };
    }
  }

  return {
    bugs,
    mayBegin,
    async send(event, about) {
      if (!mayBegin()) return "not tried";
      const began = performance.now();
      const receipt = await deliver(eventParcel(webhook, event, { ...about, secrets }));
      // A shutdown isn't the receiver's failure.
      if (receipt.kind === "failed" && signal.aborted) return "not tried";
      const ms = performance.now() - began;
      // By the store's clock, which the lease is from.
      const lagMs = Math.max(0, webhook.leasedUntil - leaseMs - Date.parse(event.ts));
      const { webhookId } = webhook;
      deps.instrumentation.record({ name: "webhook", webhookId, outcome: receipt.kind, ms, lagMs });
      return receipt.kind === "accepted" ? "accepted" : failureOf(receipt);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Not every store can hold every character, and responses may be long. */
function failureOf({ error, final, retryAfterMs }: Receipt & { kind: "failed" }): FailedSend {
  return {
    error: error.replace(/\p{Cc}/gu, " ").slice(0, MAX_ERROR),
    ...(final && { final }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** A message to a webhook, as an outgoing delivery. */
interface Message {
  id: string;
  type: EventType | "webhook.test";
  ts: string;
  data: object;
}

export interface MessageAbout {
  intakeId: string;
  submissionId: string;
  attempt: number;
  secrets: readonly string[];
}

export const messageParcel = (
  webhook: Webhook,
  { id, type, ts, data }: Message,
  about: MessageAbout,
): OutgoingDelivery => ({
  deliveryId: id,
  tenant: webhook.tenant,
  destination: { kind: "webhook", url: webhook.url },
  body: canonicalJson({ type, timestamp: ts, data }),
  submittedAt: Date.parse(ts),
  ...about,
});

function eventParcel(
  webhook: Webhook,
  event: ChainedEvent,
  about: Omit<MessageAbout, "submissionId">,
): OutgoingDelivery {
  const { eventId: id, type, ts, submissionId } = event;
  return messageParcel(
    webhook,
    { id, type, ts, data: eventView(event, { proof: false, callers: true }) },
    { submissionId, ...about },
  );
}

/** Processes a list with this many items at a time. */
export async function sideBySide<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const run = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run));
}
