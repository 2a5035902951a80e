import type { EventType } from "@formbridge/contract";
import type { FeedPosition } from "../../ports/events.ts";
import type { Sealed } from "../../ports/sealer.ts";
import type { Instant } from "../instant.ts";

export interface WebhookSecret {
  sealed: Sealed;
  /** Replaced: it signs beside the newer ones until then. */
  until?: Instant;
}

/** A tenant's wish to be sent events. */
export interface Webhook {
  webhookId: string;
  tenant: string;
  url: string;
  /** Absent: all of the submission stream. */
  types?: readonly EventType[];
  /** Absent: of all. */
  intakes?: readonly string[];
  /** The intake whose definition has it; absent: a caller made it. */
  definedBy?: string;
  /** Newest first; none: the server's own for the intake that defines it. */
  secrets: readonly WebhookSecret[];
  createdAt: Instant;
  /** Grows with every change to the above. */
  revision: number;
}

/** How far events were sent, and what is next. */
export interface WebhookProgress {
  state: "active" | "disabled";
  /** Everything up to here in the tenant's feed was taken, or is not wanted. */
  position: FeedPosition;
  /** What was taken beyond it. */
  ahead: readonly FeedPosition[];
  /**
   * As long as something was not taken, others' events go on behind it: what was looked at so far, and the submissions of which
   * something up to there was not taken. Absent: everything waits, or nothing has to.
   */
  aside?: { seen: FeedPosition; stuck: readonly string[] };
  /** How often what stands at the position was tried in vain. */
  failures: number;
  /** When what stands at the position is tried next. */
  nextAttemptAt: Instant;
  lastError?: string;
}

export interface StoredWebhook extends Webhook {
  progress: WebhookProgress;
}
