import type { Instant } from "../domain/instant.ts";
import type { StoredWebhook, Webhook, WebhookProgress } from "../domain/webhooks/webhook.ts";

export interface WebhookRef {
  tenant: string;
  webhookId: string;
}

/** A webhook that a worker holds until `leasedUntil`. */
export interface ClaimedWebhook extends StoredWebhook {
  /** Different for every claim. */
  claim: number;
  leasedUntil: Instant;
}

/** Event webhooks and their progress. */
export interface Webhooks {
  /**
   * Adds an active webhook at the end of its tenant's feed: every event that commits from now on is sent. `known`: the id exists.
   * `full`: the tenant already has `atMost`; concurrent adds may exceed it by one or two.
   */
  add(webhook: Webhook, atMost?: number): Promise<"added" | "known" | "full">;
  get(where: WebhookRef): Promise<StoredWebhook | undefined>;
  /** By id, ascending, after `after`; with `definedBy`, only those of that intake. */
  list(where: { tenant: string; after?: string; definedBy?: string }, limit: number): Promise<StoredWebhook[]>;
  /** The number that a whole list of the tenant has, counted up to `atMost`. */
  count(where: { tenant: string }, atMost: number): Promise<number>;
  /** Replaces the webhook with this id and the previous revision, keeping its progress; false if there is none. */
  update(webhook: Webhook): Promise<boolean>;
  /** Claims one, due or not. Undefined if it doesn't exist or a worker holds it. */
  hold(where: WebhookRef, leaseMs: number): Promise<ClaimedWebhook | undefined>;
  /** Removes it, even while a worker holds it. False if there is none. */
  remove(where: WebhookRef): Promise<boolean>;
  /**
   * Claims for `leaseMs` active webhooks that nobody holds and that may have something to send: they are due and have events after
   * their position, or a blocked submission is due for a retry (`retryAt`). At most `limit`, longest due first. Cheap if there are
   * none.
   */
  claim(limit: number, leaseMs: number): Promise<ClaimedWebhook[]>;
  /**
   * Stores the claimer's progress and releases the claim. False, without effect, if another worker has claimed it since or it was
   * removed, so a paused worker can't move the position back.
   */
  settle(claimed: ClaimedWebhook, progress: WebhookProgress): Promise<boolean>;
}
