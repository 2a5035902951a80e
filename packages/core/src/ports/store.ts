import type { ChainedEvent } from "../domain/chained-event.ts";
import type { Handoff } from "../domain/handoffs/handoff.ts";
import type { Hash } from "../domain/hashing.ts";
import type { KeyRecord, KeyRef } from "../domain/idempotency/key-record.ts";
import type { Instant } from "../domain/instant.ts";
import type { NewJob } from "../domain/job.ts";
import type { Publishing } from "../domain/publishing.ts";
import type { ReviewLink } from "../domain/review/review-link.ts";
import type { Sealed } from "../domain/sealed.ts";
import type { SideRow } from "../domain/side-row.ts";
import type { Submission } from "../domain/submission.ts";
import type { TokenRow } from "../domain/tokens/token-row.ts";

/** A submission as stored: sensitive values are removed from `fields` and sealed. */
export interface SubmissionRow {
  submission: Submission;
  sealedFields?: Sealed;
}

export interface Snapshot extends SubmissionRow {
  /** The current token, sealed; empty once the submission was erased. */
  sealedToken: Sealed;
}

export interface KeyWrite extends Omit<KeyRecord, "submissionId" | "recordedAt"> {
  /** Fingerprint of the record to replace; any other record under the key wins. */
  replaces?: Hash;
}

/** One atomic write: the new state, the token, the events, the record and the jobs. */
export interface Change {
  tenant: string;
  expect: { absent: true } | { revision: number; notAfter?: Instant };
  /** The row after the change. Its version grows exactly when `token` is set. */
  row: SubmissionRow;
  token?: { hash: Hash; sealed: Sealed; epoch: number; expiresAt: Instant };
  /** Of all streams, chained on the heads of the revision that is expected; the row holds the heads after them. */
  events: ChainedEvent[];
  key?: KeyWrite;
  /** Rows of other tables, such as hand-offs; one with the same id is replaced. */
  side: SideRow[];
  jobs: NewJob[];
  dropJobs: string[];
  /** Deletes these records of the submission, if they have expired. */
  dropKeys?: readonly KeyRef[];
  /** Deletes these records of the submission, expired or not: whoever repeats such a request executes it again. */
  dropLiveKeys?: readonly KeyRef[];
  /**
   * Erases the submission: removes actor, payload and salts of all earlier events, all tokens and all hand-offs. Idempotency records
   * keep only what keeps their keys taken (`erasedRecord`). `row` has no values left.
   */
  erase?: true;
  /**
   * Removes one actor from a submission that has ended: these earlier events of it lose actor or payload with the salt, as given here.
   * All its hand-offs and review links are removed, and idempotency records are erased as by `erase`. Tokens stay.
   */
  redact?: readonly ChainedEvent[];
  /** The submission's publication (`Publications`) is this from now on, stamped with the time of the commit. */
  publish?: Publishing;
}

export interface Loaded {
  /** The store's clock: it decides every expiry. */
  now: Instant;
  submission?: Snapshot;
  /** The token of the query, current or stale. */
  presented?: TokenRow;
  /** The hand-off of the query's link or session. */
  handoff?: Handoff;
  /** The review link of the query. */
  link?: ReviewLink;
  /** The live record under `key`, if any. */
  record?: KeyRecord;
  /** Digest of the intake's current definition; only for a query by intake, and absent when retired. */
  definition?: { digest: Hash; tenant: string };
}

export type Committed =
  | { kind: "committed"; at: Instant }
  /** Another request holds the key: compare fingerprints, then replay or conflict. */
  | { kind: "key_taken"; record: KeyRecord }
  /** Somebody else committed first: decide again on the current state. */
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
 * `load` sees every commit that returned before it began. What it doesn't find is absent from the result, never an error.
 * Arguments and results are shared, not copied: neither side may mutate them.
 *
 * `commit` is all or nothing, and durable before it returns, refusals included. It checks in this order: a live record under
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
 * The store is up and refused this one call, for example because of a lock or a constraint. Nothing was applied; the next call may
 * succeed.
 */
export class CallRefused extends StoreDown {
  constructor(message: string, cause?: unknown) {
    super(message, "not_applied", cause);
  }
}

/** Another write held the key or the row for longer than the store waits. Safe to retry. */
export class WriteHeld extends CallRefused {}
