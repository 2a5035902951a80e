import type { Hash } from "../domain/hashing.ts";
import type { Instant } from "../domain/instant.ts";

interface OfSubmission {
  tenant: string;
  submission_id: string;
  intake_id: string;
}

/**
 * Everything that a store keeps, as it keeps it, in the order in which it can be written: nothing refers to what comes later.
 * Hashes are hexadecimal. `definition`, `doc`, `actor`, `payload`, `created_by`, `principal`, `ahead` and `stuck` are JSON texts.
 */
export interface CopiedRows {
  definitions: { digest: Hash; tenant: string; definition: string };
  intakes: {
    id: string;
    tenant: string;
    source: string;
    digest: Hash;
    retired: boolean;
    updated_at: Instant;
  };
  api_keys: {
    key_id: string;
    hash: Hash;
    tenant: string;
    expires_at: Instant | null;
    revoked: boolean;
    doc: string;
  };
  submissions: OfSubmission & {
    created_by: string;
    created_at: Instant;
    state: string;
    editable: boolean;
    expires_at: Instant;
    warn_at: Instant | null;
    ended_at: Instant | null;
    definition: Hash;
    erased_at: Instant | null;
    version: number;
    revision: number;
    token_seq: number;
    token_hash: Hash;
    idem_seq: number;
    idem_hash: Hash;
    sealed_token: string;
    sealed_fields: string | null;
    doc: string;
  };
  tokens: OfSubmission & {
    version: number;
    hash: Hash;
    epoch: number;
    issued_at: Instant;
    expires_at: Instant;
  };
  events: OfSubmission & {
    position: number;
    stream: string;
    seq: number;
    event_id: string;
    type: string;
    ts: string;
    state: string;
    version: number;
    actor: string | null;
    payload: string | null;
    actor_salt: string | null;
    actor_digest: Hash;
    payload_salt: string | null;
    payload_digest: Hash;
    prev_hash: Hash;
    hash: Hash;
  };
  records: OfSubmission & {
    operation: string;
    hash: Hash;
    fingerprint: Hash;
    principal: string;
    carried_version: number;
    failed: boolean;
    answer: string;
    answer_by: Instant | null;
    recorded_at: Instant;
    expires_at: Instant;
    keep_after_end_ms: number | null;
    live_until: Instant | null;
  };
  handoffs: {
    tenant: string;
    submission_id: string;
    handoff_id: string;
    forget_after: Instant;
    doc: string;
  };
  handoff_keys: { hash: Hash; tenant: string; submission_id: string; handoff_id: string };
  review_links: {
    tenant: string;
    submission_id: string;
    link_id: string;
    hash: Hash;
    forget_after: Instant;
    doc: string;
  };
  jobs: {
    tenant: string;
    key: string;
    kind: string;
    lane: string;
    submission_id: string;
    run_at: Instant;
    attempt: number;
    leased_until: Instant;
  };
  webhooks: {
    webhook_id: string;
    tenant: string;
    defined_by: string | null;
    revision: number;
    doc: string;
    state: string;
    position: number;
    ahead: string;
    seen: number | null;
    stuck: string | null;
    failures: number;
    next_attempt_at: Instant;
    last_error: string | null;
    claim: number;
    leased_until: Instant;
  };
}

export type CopyKind = keyof CopiedRows;
export type CopyCounts = Record<CopyKind, number>;

export const COPY_KINDS = [
  "definitions",
  "intakes",
  "api_keys",
  "submissions",
  "tokens",
  "events",
  "records",
  "handoffs",
  "handoff_keys",
  "review_links",
  "jobs",
  "webhooks",
] as const satisfies readonly CopyKind[];

/** A whole store at one moment, to be copied. Nobody else can write to it until it is closed. */
export interface CopySource {
  /** Another one whenever anything in the store is another. */
  fingerprint: Hash;
  counts: CopyCounts;
  /** The last place in the feed that was ever given away: its event may be gone, and readers stand there all the same. */
  lastPosition: number;
  /** All rows of a kind but the first `skip`, always in the same order, in pages of bounded size. */
  pages<Kind extends CopyKind>(kind: Kind, skip: number): Iterable<CopiedRows[Kind][]>;
  close(): void;
}

/** A store that a copy is written to. It serves nobody before `finish`. */
export interface CopyTarget {
  /**
   * Makes sure that the target is empty, or holds a part of the copy of just this source. Throws, in words, when it holds anything
   * else. Answers `finished` when the copy was made before.
   */
  begin(fingerprint: Hash): Promise<"finished" | "unfinished">;
  /** How many rows there are: where a copy that was interrupted goes on. */
  counts(): Promise<CopyCounts>;
  /** All rows or none. */
  write<Kind extends CopyKind>(kind: Kind, rows: readonly CopiedRows[Kind][]): Promise<void>;
  /** The copy is whole: from now on the target can be used. Its feed goes on behind `lastPosition`. */
  finish(lastPosition: number): Promise<void>;
  close(): Promise<void>;
}
