import type { Actor, EventStream, FileReference, JsonObject, ReviewerGroup } from "@formbridge/contract";
import type { Hash } from "./hashing.ts";
import type { Instant } from "./instant.ts";
import type { Sealed } from "./sealed.ts";
import type { EditableState } from "./transitions.ts";

/** Who set what. Paths refer to a version, whose actor and time are stored once however many paths it set. */
export interface Attribution {
  /** The version that set each path. */
  paths: Record<string, number>;
  /**
   * The version that removed each path, for the most recent removals. Writers on an older version must learn of them.
   */
  removed: Record<string, number>;
  /** The writes by version, as long as some path refers to them. */
  writes: Record<string, { actor: Actor; at: Instant }>;
}

export interface Upload {
  uploadId: string;
  field: string;
  filename: string;
  mimeType: string;
  sizeBytes: number;
  sha256?: string;
  requestedAt: Instant;
  expiresAt: Instant;
  /** Announced without an API key, so it isn't kept longer than its URL is valid. */
  anonymous?: true;
  /** The last uploads that this one superseded, so that a late client gets an explanation. */
  supersedes?: string[];
  /** Set once the file was checked. */
  confirmed?: FileReference;
}

export interface Rejection {
  gate: string;
  reasons: string[];
  /** What is wrong, by dot-path. */
  fieldReasons?: Record<string, string>;
  by: Actor;
  at: Instant;
  version: number;
}

/** The gate that the submission is waiting at, or the last one it passed. */
export interface Review {
  gateIndex: number;
  gate: string;
  requestedAt: Instant;
  /** When it escalated: those in `escalateTo` may decide too. */
  escalatedAt?: Instant;
  /** The reviewers named by an admin instead of those in the definition. */
  reassigned?: { reviewers: ReviewerGroup; at: Instant };
  approvals: { by: Actor; at: Instant; comment?: string }[];
  decision?: "approved" | "rejected";
  decidedBy?: Actor;
  decidedAt?: Instant;
  reasons?: string[];
  fieldReasons?: Record<string, string>;
}

/** Which process runs an attempt, and until when no other may start one. */
export interface AttemptLease {
  /** The process's id. */
  by: string;
  until: Instant;
}

/** An attempt that has ended. */
export interface DeliveryAttempt {
  at: Instant;
  latencyMs: number;
  /** For receivers that use HTTP. */
  status?: number;
  /** Absent if it was accepted. */
  error?: string;
  /** The beginning of the receiver's response. */
  answer?: Sealed;
}

export interface Delivery {
  deliveryId: string;
  attemptCount: number;
  /** Attempts since the delivery was started or restarted. */
  tries: number;
  inFlight?: boolean;
  lease?: AttemptLease;
  /** The last attempts, oldest first. */
  attempts?: readonly DeliveryAttempt[];
  lastAttemptAt?: Instant;
  lastError?: string;
  nextAttemptAt?: Instant;
  /** No further attempts until somebody restarts the delivery. */
  givenUp?: boolean;
  deliveredAt?: Instant;
  /** The record of the submit's response, which includes the outcome of the first attempt if it ends by this time. */
  answer?: { key: Hash; by: Instant };
}

export interface Activity {
  actor: Actor;
  at: Instant;
}

export interface ChainHead {
  seq: number;
  hash: Hash;
}

/** The last event of each stream. */
export type ChainHeads = Readonly<Record<EventStream, ChainHead>>;

export interface Person {
  kind: "agent" | "human";
  id: string;
}

interface Common {
  tenant: string;
  submissionId: string;
  intakeId: string;
  intakeVersion: string;
  /** Digest of the complete definition that the submission was created with. */
  definition: Hash;
  /** Public; grows when the token rotates. */
  version: number;
  /** Internal; grows with every commit. */
  revision: number;
  /** Tokens of an earlier epoch are revoked; `epochSince` is when that last happened. */
  epoch: number;
  epochSince: Instant;
  /** The current token isn't given to anyone until it is reissued. */
  tokensRevoked: boolean;
  fields: JsonObject;
  /** Upper bound on the length of the fields as JSON. */
  sizeBound: number;
  attribution: Attribution;
  missingCount: number;
  createdAt: Instant;
  updatedAt: Instant;
  createdBy: Actor;
  /** The API key that created it; it may act for actors other than its own. */
  createdByKey?: string;
  lastUpdatedBy: Actor;
  /** The agent or human who last acted or read; the system and operators don't count. */
  lastPerson?: Person;
  /** When a human with a link or an API key last took over from an agent; absent while an agent works on it. */
  humanSince?: Instant;
  /** When a token or session was last used to read, as far as audits are written. */
  lastUsedAt?: Instant;
  /** The country that it was created in, if known. */
  createdIn?: string;
  /** The last incidents about this submission, and what they did to its tokens. */
  incidents?: { incidentId: string; at: Instant; response?: "revoke" | "reissue" }[];
  ttlMs: number;
  expiresAt: Instant;
  /** When to warn that it will expire; absent once that was done. */
  warnAt?: Instant;
  /** Replays of the create. */
  replayCount: number;
  /** The last write of an agent, and of a human. */
  activity?: { agent?: Activity; human?: Activity };
  /** The last completed hand-off, and at which version. */
  completedHandoff?: { handoffId: string; at: Instant; version?: number };
  /** Replays of other idempotency keys, by operation and hash; the most recently replayed comes last. */
  keyReplays?: Record<string, number>;
  uploads: Upload[];
  rejections: Rejection[];
  review?: Review;
  delivery?: Delivery;
  /** Overrides the definition's destination. */
  destination?: Sealed;
  submittedAt?: Instant;
  submittedBy?: Actor;
  /** When values and names were erased. */
  erasedAt?: Instant;
  /** The span that last passed the submission on to somebody else; what they do continues its trace. */
  traceparent?: string;
  heads: ChainHeads;
  /**
   * The current token; `seq` is the head of the submission stream when it was issued. `lapsed` once its lapse is
   * recorded.
   */
  token: { hash: Hash; issuedAt: Instant; expiresAt: Instant; seq: number; lapsed?: true };
}

/** A submission: what all states share, and what only some of them have. */
export type Submission = Common &
  (
    | { state: EditableState }
    | { state: "needs_review"; review: Review; submittedAt: Instant }
    | { state: "submitted" | "approved"; submittedAt: Instant; delivery: Delivery }
    | { state: "finalized"; submittedAt: Instant; finalizedAt: Instant }
    | { state: "cancelled"; cancelledAt: Instant; cancelledBy: Actor; reason?: string }
    | { state: "expired"; expiredAt: Instant }
  );

/** When the submission ended, if it has. */
export function endedAt(submission: Submission): Instant | undefined {
  switch (submission.state) {
    case "finalized":
      return submission.finalizedAt;
    case "cancelled":
      return submission.cancelledAt;
    case "expired":
      return submission.expiredAt;
    default:
      return undefined;
  }
}
