import type { Actor, FileReference, JsonObject } from "@formbridge/contract";
import type { Hash } from "./hashing.ts";
import type { Instant } from "./instant.ts";
import type { EditableState } from "./transitions.ts";

/** Who set what. The version of a write stands for its actor and moment, which are kept once however many places it set. */
export interface Attribution {
  /** By field path: the version that set it. */
  paths: Record<string, number>;
  /** By field path: the version that removed it, for the last ones removed. A late writer must learn of it. */
  removed: Record<string, number>;
  /** By version, as long as some path still names it. */
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
  /** Set once the file was checked. */
  confirmed?: FileReference;
}

export interface Rejection {
  gate: string;
  reasons: string[];
  by: Actor;
  at: Instant;
  version: number;
}

/** The gate that the submission waits at, or the last one it passed. */
export interface Review {
  gateIndex: number;
  gate: string;
  requestedAt: Instant;
  /** Nobody has decided in time: those of `escalateTo` may, too. */
  escalatedAt?: Instant;
  approvals: { by: Actor; at: Instant }[];
  decision?: "approved" | "rejected";
  decidedBy?: Actor;
  decidedAt?: Instant;
  reasons?: string[];
}

export interface Delivery {
  deliveryId: string;
  attemptCount: number;
  /** Since it was started, or started again after it was given up. */
  tries: number;
  inFlight?: boolean;
  lastAttemptAt?: Instant;
  lastError?: string;
  nextAttemptAt?: Instant;
  /** Nobody tries any more, until somebody starts it again. */
  givenUp?: boolean;
  deliveredAt?: Instant;
  /** The recorded answer of the submit: what comes of the first attempt before this moment becomes part of it. */
  answer?: { key: Hash; by: Instant };
}

export interface ChainHead {
  seq: number;
  hash: Hash;
}

interface Common {
  tenant: string;
  submissionId: string;
  intakeId: string;
  intakeVersion: string;
  /** Digest of the whole definition that the submission was created with. */
  definition: Hash;
  /** Public: moves with the token. */
  version: number;
  /** Internal: grows with every commit. */
  revision: number;
  /** Tokens of an older epoch were revoked, at this moment the last time. */
  epoch: number;
  epochSince: Instant;
  /** The current token is told to nobody until it is reissued. */
  tokensRevoked: boolean;
  fields: JsonObject;
  /** The fields as JSON are no longer than this. */
  sizeBound: number;
  attribution: Attribution;
  missingCount: number;
  createdAt: Instant;
  updatedAt: Instant;
  createdBy: Actor;
  /** The key that created it; it may act for other actors than its own. */
  createdByKey?: string;
  lastUpdatedBy: Actor;
  ttlMs: number;
  expiresAt: Instant;
  /** When to warn that the time runs out; absent once that was done. */
  warnAt?: Instant;
  replayCount: number;
  uploads: Upload[];
  rejections: Rejection[];
  review?: Review;
  delivery?: Delivery;
  submittedAt?: Instant;
  submittedBy?: Actor;
  /** When values and names were erased: what is left tells of nobody. */
  erasedAt?: Instant;
  /** Last event of the submission stream. */
  head: ChainHead;
  /** The current token; `seq` is where the submission stream stood when it was issued. */
  token: { issuedAt: Instant; expiresAt: Instant; seq: number };
}

/** One filling of an intake: what all states share, and what only one of them has. */
export type Submission = Common &
  (
    | { state: EditableState }
    | { state: "needs_review"; review: Review; submittedAt: Instant }
    | { state: "submitted" | "approved"; submittedAt: Instant; delivery: Delivery }
    | { state: "finalized"; submittedAt: Instant; finalizedAt: Instant }
    | { state: "cancelled"; cancelledAt: Instant; cancelledBy: Actor; reason?: string }
    | { state: "expired"; expiredAt: Instant }
  );

/** When the submission reached its end, if it has. */
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
