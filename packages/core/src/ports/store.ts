import type { Actor, EventStream, EventType, JsonObject, SubmissionState } from "@formbridge/contract";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";
import type { ReviewLink } from "../domain/review/review-link.ts";
import type { Submission } from "../domain/submission.ts";
import type { Sealed } from "./sealer.ts";

/** The operations that take an idempotency key. */
export type KeyedOperation = "create" | "setFields" | "submit";

/** An idempotency key, hashed. Tenant and intake, which complete its scope, come from the submission or intake beside it. */
export interface KeyRef {
  operation: KeyedOperation;
  hash: Hash;
}

/** What was answered under an idempotency key. */
export interface KeyRecord {
  ref: KeyRef;
  submissionId: string;
  fingerprint: Hash;
  /** Who made it, and so who may have the answer again. */
  principal: string;
  /** The version that the original request was made on; 0 for a create. */
  carriedVersion: number;
  /** A recorded 422: the same key may try again on a newer version. */
  failed: boolean;
  answer: Sealed;
  answerBy?: Instant;
  recordedAt: Instant;
  expiresAt: Instant;
  /** Kept this long after the submission ended, whatever `expiresAt` says. Absent: `expiresAt` alone decides. */
  keepAfterEndMs?: number;
}

/** A token by its hash, with the submission version that it stands for. */
export interface TokenRow {
  hash: Hash;
  submissionId: string;
  tenant: string;
  intakeId: string;
  version: number;
  epoch: number;
  issuedAt: Instant;
  expiresAt: Instant;
  /** When the next version's token was issued; absent while this is the current one. */
  rotatedAt?: Instant;
}

/** A submission as it rests: sensitive values sealed and taken out of `fields`. */
export interface SubmissionRow {
  submission: Submission;
  sealedFields?: Sealed;
}

export interface Snapshot extends SubmissionRow {
  /** The current token, sealed; empty once the submission was erased. */
  sealedToken: Sealed;
}

export interface ChainedEvent {
  eventId: string;
  seq: number;
  stream: EventStream;
  type: EventType;
  submissionId: string;
  /** ISO 8601; the hash covers its text. */
  ts: string;
  state: SubmissionState;
  version: number;
  actor: Actor | null;
  payload: JsonObject | null;
  /** null once the value was erased. */
  actorSalt: string | null;
  actorDigest: Hash;
  payloadSalt: string | null;
  payloadDigest: Hash;
  prevHash: Hash;
  hash: Hash;
}

/** An event of the token or idempotency stream, before the store puts it at the end of its chain. */
export type AuditEvent = Omit<ChainedEvent, "seq" | "prevHash" | "hash">;

export type JobKind = "deliver" | "escalate" | "collect" | "notify";
export interface NewJob {
  /** Unique in a tenant; a job with the same key replaces the earlier one. */
  key: string;
  kind: JobKind;
  runAt: Instant;
}

export interface KeyWrite extends Omit<KeyRecord, "submissionId" | "recordedAt"> {
  /** Fingerprint of the record that this one takes the place of; any other record under the key wins. */
  replaces?: Hash;
}

/**
 * Something of a submission that has a row of its own. A hand-off is found by the hash of its link and of every session in it, a
 * review link by its own.
 */
export type SideRow = { kind: "handoff"; handoff: Handoff } | { kind: "review_link"; link: ReviewLink };

export const handoffsIn = (side: readonly SideRow[] = []): Handoff[] =>
  side.flatMap((row) => (row.kind === "handoff" ? [row.handoff] : []));
export const reviewLinksIn = (side: readonly SideRow[] = []): ReviewLink[] =>
  side.flatMap((row) => (row.kind === "review_link" ? [row.link] : []));

/** One write, whole: the new state, the token, the events, the record and the jobs can't come apart. */
export interface Change {
  tenant: string;
  expect: { absent: true } | { revision: number; notAfter?: Instant };
  /** The row after the change. Its version grows exactly when `token` is set. */
  row: SubmissionRow;
  token?: { hash: Hash; sealed: Sealed; epoch: number; expiresAt: Instant };
  /** The submission stream, chained by the caller. */
  events: ChainedEvent[];
  /** Token and idempotency streams, chained by the store. */
  audit: AuditEvent[];
  key?: KeyWrite;
  /** What rests beside the row, each whole: one with the same id is replaced. */
  side: SideRow[];
  jobs: NewJob[];
  dropJobs: string[];
  /**
   * The submission is erased: of every event but those of this change, actor and payload go with their salts; all tokens and
   * hand-offs go; of recorded answers stays what keeps their keys taken (`erasedRecord`). The row is a bare one.
   */
  erase?: true;
}

export interface Loaded {
  /** The store's clock: it decides every expiry. */
  now: Instant;
  submission?: Snapshot;
  /** The token that was asked for, current or stale. */
  presented?: TokenRow;
  /** The hand-off whose link or session was asked for. */
  handoff?: Handoff;
  /** The review link that was asked for. */
  link?: ReviewLink;
  /** The live record under `key`, if any. */
  record?: KeyRecord;
  /** Digest of the intake's current definition; only when asked by intake, and absent when retired. */
  definition?: { digest: Hash; tenant: string };
}

export type Committed =
  | { kind: "committed"; at: Instant }
  /** Another request holds the key: compare fingerprints, then replay or conflict. */
  | { kind: "key_taken"; record: KeyRecord }
  /** The revision moved: decide again on what is there now. */
  | { kind: "stale"; loaded: Loaded }
  /** The deadline passed between load and commit. */
  | { kind: "too_late"; now: Instant };

export interface LoadQuery {
  by: { token: Hash } | { session: Hash } | { reviewLink: Hash } | { id: string; tenant: string } | { intake: string };
  key?: KeyRef;
}

/**
 * The only way to change a submission.
 *
 * `load` sees every commit that was answered before it began. What it does not find is absent from the answer, never an error.
 * What goes in and comes out is shared, not copied: neither side changes it in place.
 *
 * `commit` is all or nothing, and durable before it answers, refusals included. It checks in this order: a live record under
 * `key` (unless `key.replaces` names it) → `key_taken`; the revision, or for `absent` that the id is new → `stale`;
 * `notAfter` against the store's clock → `too_late`. Concurrent commits on one revision: exactly one is `committed`.
 *
 * Both throw `StoreDown` when the store can't answer; its `outcome` says whether the write may have happened.
 */
export interface Store {
  load(query: LoadQuery): Promise<Loaded>;
  commit(change: Change): Promise<Committed>;
}

export class StoreDown extends Error {
  readonly outcome: "not_applied" | "unknown";
  constructor(message: string, outcome: "not_applied" | "unknown", cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StoreDown";
    this.outcome = outcome;
  }
}

/**
 * The store is up and refused this one call, for what it was: a lock that another write holds, a value, a constraint. Nothing was
 * applied, and it says nothing about the next call.
 */
export class CallRefused extends StoreDown {
  constructor(message: string, cause?: unknown) {
    super(message, "not_applied", cause);
  }
}

/** What is left of a record when its submission is erased: the key stays taken, and nobody is told by whom or for what. */
export const erasedRecord = { fingerprint: "0".repeat(64), principal: "erased", answer: "" } as const;

/** Is a record still to be honoured? One rule, for look-ups and clean-up alike. */
export function isLive(record: KeyRecord, submissionEndedAt: Instant | undefined, now: Instant): boolean {
  if (now < record.expiresAt) return true;
  if (record.keepAfterEndMs === undefined) return false;
  return submissionEndedAt === undefined || now < submissionEndedAt + record.keepAfterEndMs;
}
