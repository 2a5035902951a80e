import type { Instant } from "../domain/instant.ts";
import type { StoredWebhook, Webhook, WebhookProgress } from "../domain/webhooks/webhook.ts";

export interface WebhookRef {
  tenant: string;
  webhookId: string;
}

/** A webhook that a worker holds until `leasedUntil`. */
export interface ClaimedWebhook extends StoredWebhook {
  /** Another one with every claim. */
  claim: number;
  leasedUntil: Instant;
}

/** Who is sent events, and how far they were. */
export interface Webhooks {
  /**
   * Adds one, active, that starts at the end of its tenant's feed: what commits from now on is sent, nothing before is missing
   * from it. `known`: the id is taken. `full`: callers of this tenant have made `atMost` already; of several adds at the same
   * moment one or two too many may pass.
   */
  add(webhook: Webhook, atMost?: number): Promise<"added" | "known" | "full">;
  get(where: WebhookRef): Promise<StoredWebhook | undefined>;
  /** By id, ascending, after `after`; with `definedBy`, only what that intake defines. */
  list(where: { tenant: string; after?: string; definedBy?: string }, limit: number): Promise<StoredWebhook[]>;
  /** Takes the place of what has this id and the revision before; false when there is none. Progress stays. */
  update(webhook: Webhook): Promise<boolean>;
  /** Active from where it stopped, without failures, due at once; false when there is none. */
  enable(where: WebhookRef): Promise<boolean>;
  /** For good, also for who holds it. False when there is none. */
  remove(where: WebhookRef): Promise<boolean>;
  /**
   * Takes active webhooks for `leaseMs` that nobody holds and that may have something to send: their time has come and there is
   * something behind their position, or there is something behind what they have seen (`aside`). At most `limit`, those first that
   * are due longest. Costs next to nothing when there are none.
   */
  claim(limit: number, leaseMs: number): Promise<ClaimedWebhook[]>;
  /**
   * Writes down how far the claimer came, and lets go. Answers false, and changes nothing, when another has claimed it since or it
   * is gone: nobody who paused can move a position back.
   */
  settle(claimed: ClaimedWebhook, progress: WebhookProgress): Promise<boolean>;
}

/** A webhook as stores with columns keep it. */
export interface WebhookColumns {
  doc: string;
  state: WebhookProgress["state"];
  position: number;
  ahead: string;
  seen: number | null;
  stuck: string | null;
  failures: number;
  nextAttemptAt: Instant;
  lastError: string | null;
  claim: number;
}

export function webhookOf({ doc, ahead, seen, stuck, lastError, ...columns }: WebhookColumns): StoredWebhook {
  const { state, position, failures, nextAttemptAt } = columns;
  const progress: WebhookProgress = {
    state,
    position,
    ahead: JSON.parse(ahead),
    ...(seen !== null && { aside: { seen, stuck: JSON.parse(stuck ?? "[]") } }),
    failures,
    nextAttemptAt,
    ...(lastError !== null && { lastError }),
  };
  return { ...(JSON.parse(doc) as Webhook), progress };
}
