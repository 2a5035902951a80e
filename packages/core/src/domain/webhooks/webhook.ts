import type { EventType } from "@formbridge/contract";
import type { Instant } from "../instant.ts";
import type { Sealed } from "../sealed.ts";
import type { FeedPosition } from "./feed.ts";

export interface WebhookSecret {
  sealed: Sealed;
  /** Set once the secret is replaced: up to this time it still signs beside the newer ones. */
  until?: Instant;
}

/** A tenant's subscription to events. */
export interface Webhook {
  webhookId: string;
  tenant: string;
  url: string;
  /** Absent: all of the submission stream. */
  types?: readonly EventType[];
  /** Absent: all intakes. */
  intakes?: readonly string[];
  /** The intake whose definition contains it; absent if a caller created it. */
  definedBy?: string;
  /** Newest first; if empty, the server's own secret for the defining intake is used. */
  secrets: readonly WebhookSecret[];
  createdAt: Instant;
  /** Grows with every change to the properties above. */
  revision: number;
}

/** The events of one submission that wait because the receiver refused the first of them. */
export interface BlockedQueue {
  submissionId: string;
  intakeId: string;
  /** Where they start: at a feed position, or after an accepted event. */
  from: { position: FeedPosition } | { after: string };
  /** The first waiting event. */
  eventId: string;
  /** The last waiting event that the feed position has passed. */
  last: string;
  /** How often the first event was refused. */
  failures: number;
  nextAttemptAt: Instant;
  lastError?: string;
  /** Given up: an operator has to skip or replay it. */
  dead?: true;
}

/** How far events were sent, and what is next. */
export interface WebhookProgress {
  state: "active" | "disabled";
  /** Everything up to here in the tenant's feed was accepted, isn't wanted, or waits in a blocked submission. */
  position: FeedPosition;
  /** What was accepted beyond it, on the page read last. */
  ahead: readonly FeedPosition[];
  blocked: readonly BlockedQueue[];
  /** When the next blocked submission is due for a retry; absent if none is. */
  retryAt?: Instant;
  /** How many rounds in a row the receiver accepted nothing new. */
  failures: number;
  /** Nothing is sent before this. */
  nextAttemptAt: Instant;
  lastError?: string;
}

export interface StoredWebhook extends Webhook {
  progress: WebhookProgress;
}
