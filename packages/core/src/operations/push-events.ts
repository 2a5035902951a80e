import { canonicalJson } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import { afterRound, type FailedSend, linesOf, startOf } from "../domain/webhooks/round.ts";
import type { Parcel, Receipt } from "../ports/courier.ts";
import type { FeedEvent, FeedPosition } from "../ports/events.ts";
import type { ClaimedWebhook } from "../ports/webhooks.ts";
import { eventView, streamsOf } from "./get-events.ts";
import type { Context } from "./support/context.ts";
import { secretsAt } from "./support/webhook-secrets.ts";

/** What one round looks at. */
const PAGE = 100;
/** Submissions whose events are sent to one webhook at the same time. */
const LINES_AT_ONCE = 8;
const MAX_ERROR = 500;

export interface Push {
  webhook: ClaimedWebhook;
  /** For how long it is held. */
  leaseMs: number;
  signal: AbortSignal;
}

/**
 * One round of sending to a webhook: a page of the feed, submissions side by side, each submission's events in order. What was sent and not written down, after a crash, is sent again under the same id. Answers whether there may be more.
 */
export async function pushEvents(context: Context, push: Push): Promise<boolean> {
  const { deps } = context;
  const { webhook } = push;
  const { tenant, types, intakes, progress } = webhook;
  const filter = { tenant, streams: streamsOf(types), ...(types && { types }), ...(intakes && { intakeIds: intakes }) };
  const began = webhook.leasedUntil - push.leaseMs;
  const after = startOf(progress, began);
  const page = await deps.backend.events.feed(filter, { after, limit: PAGE });
  const round = createRound(context, push);
  await round.send(linesOf(page, progress, began));
  const now = await deps.backend.deadlines.now();
  const { taken, failed, bugs } = round;
  const next = afterRound(progress, { began, page, taken, failed }, { now, chance: deps.random.chance() });
  await deps.backend.webhooks.settle(webhook, next);
  if (bugs.length > 0) throw bugs[0];
  return page.events.length > 0 || page.position > after;
}

/** Sends, and remembers what came of it. */
function createRound(context: Context, push: Push) {
  const { deps } = context;
  const { webhook, leaseMs, signal } = push;
  const taken: FeedPosition[] = [];
  const failed: FailedSend[] = [];
  const bugs: unknown[] = [];
  const secrets = secretsAt(deps, webhook, webhook.leasedUntil - leaseMs);
  // Nothing is begun in the second half of the lease, and nothing outlasts it: by then another may hold the webhook.
  const beginUntil = performance.now() + leaseMs / 2;
  const late = new AbortController();
  const ending = AbortSignal.any([signal, late.signal]);
  // Several in a row tell of the receiver, not of what it is sent.
  const mayBegin = (): boolean => !signal.aborted && performance.now() < beginUntil && failed.length < LINES_AT_ONCE;

  async function sendOne(event: FeedEvent): Promise<Receipt> {
    try {
      return await deps.courier.send(parcelOf(webhook, event, secrets), ending);
    } catch (bug) {
      bugs.push(bug);
      return { kind: "failed", error: "The event could not be sent by the server; its log says why." };
    }
  }

  async function sendLine(line: readonly FeedEvent[]): Promise<void> {
    for (const event of line) {
      if (!mayBegin()) return;
      const began = performance.now();
      const receipt = await sendOne(event);
      // A stop is no failure of the receiver.
      if (receipt.kind === "failed" && signal.aborted) return;
      deps.instrumentation.record({ name: "webhook", outcome: receipt.kind, ms: performance.now() - began });
      if (receipt.kind === "taken") taken.push(event.position);
      else {
        failed.push({ ...receipt, error: plainText(receipt.error) });
        return;
      }
    }
  }

  return {
    taken,
    failed,
    bugs,
    async send(lines: readonly FeedEvent[][]): Promise<void> {
      const waiting = lines.values();
      const work = async (): Promise<void> => {
        for (const line of waiting) await sendLine(line);
      };
      const timer = setTimeout(() => late.abort(), leaseMs * 0.9);
      await Promise.all(Array.from({ length: Math.min(LINES_AT_ONCE, lines.length) }, work));
      clearTimeout(timer);
    },
  };
}

/** Not every store keeps every character, and none keeps a receiver's novel. */
const plainText = (error: string): string => error.replace(/\p{Cc}/gu, " ").slice(0, MAX_ERROR);

function parcelOf(webhook: ClaimedWebhook, { event, intakeId }: FeedEvent, secrets: readonly string[]): Parcel {
  const submittedAt: Instant = Date.parse(event.ts);
  return {
    deliveryId: event.eventId,
    tenant: webhook.tenant,
    intakeId,
    submissionId: event.submissionId,
    destination: { kind: "webhook", url: webhook.url },
    body: canonicalJson({ type: event.type, timestamp: event.ts, data: eventView(event, { proof: false }) }),
    submittedAt,
    attempt: webhook.progress.failures + 1,
    secrets,
  };
}
