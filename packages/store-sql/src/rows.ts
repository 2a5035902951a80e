/** Maps the types of the ports to rows and back: one function each way for every table. */
import {
  type ApiKey,
  type ChainedEvent,
  type Change,
  type Due,
  type ExpiredRecord,
  endedAt,
  erasedRecord,
  type FeedEvent,
  type FoundRecord,
  type Handoff,
  handoffHashes,
  type Instant,
  isEditable,
  type Job,
  type KeyRecord,
  type KeyWrite,
  laneOf,
  type NewJob,
  type ReviewLink,
  type Snapshot,
  type StoredIntake,
  type SubmissionRow,
  type TokenRow,
} from "@formbridge/core";
import { fromJson, type Json, type Row, toJson } from "./table.ts";
import type {
  apiKeys,
  definitions,
  events,
  handoffKeys,
  handoffs,
  intakes,
  jobs,
  records,
  reviewLinks,
  submissions,
  tokens,
} from "./tables.ts";

type Submissions = Row<typeof submissions>;

/** `sealed_token` is null when the change keeps the current token. */
export type SubmissionToWrite = Omit<Submissions, "sealed_token"> & { sealed_token: string | null };

export function submissionToWrite({ tenant, row, token, erase }: Change): SubmissionToWrite {
  const { submission } = row;
  const editable = isEditable(submission.state);
  return {
    tenant,
    submission_id: submission.submissionId,
    intake_id: submission.intakeId,
    created_by: toJson(submission.createdBy.id),
    created_at: submission.createdAt,
    state: submission.state,
    editable,
    expires_at: submission.expiresAt,
    warn_at: (editable ? submission.warnAt : undefined) ?? null,
    ended_at: endedAt(submission) ?? null,
    definition: submission.definition,
    erased_at: submission.erasedAt ?? null,
    version: submission.version,
    revision: submission.revision,
    sealed_token: erase === true ? "" : (token?.sealed ?? null),
    sealed_fields: row.sealedFields ?? null,
    doc: toJson(submission),
  };
}

export const submissionRowOf = ({ doc, sealed_fields }: Pick<Submissions, "doc" | "sealed_fields">): SubmissionRow => ({
  submission: fromJson(doc),
  ...(sealed_fields !== null && { sealedFields: sealed_fields }),
});

export const snapshotOf = (row: Pick<Submissions, "doc" | "sealed_fields" | "sealed_token">): Snapshot => ({
  ...submissionRowOf(row),
  sealedToken: row.sealed_token,
});

export const dueOf = (row: Pick<Submissions, "tenant" | "submission_id">): Due => ({
  tenant: row.tenant,
  submissionId: row.submission_id,
});

/** The token that a change issues, if it issues one. */
export function tokenToWrite({ row: { submission }, token }: Change): Row<typeof tokens> | undefined {
  return (
    token && {
      submission_id: submission.submissionId,
      version: submission.version,
      hash: token.hash,
      epoch: token.epoch,
      issued_at: submission.token.issuedAt,
      expires_at: token.expiresAt,
    }
  );
}

/** A token with its submission's tenant and intake. `rotated_at`: when the next version's token was issued. */
export type TokenWithOwner = Row<typeof tokens> &
  Pick<Submissions, "tenant" | "intake_id"> & { rotated_at: Instant | null };

export const tokenOf = (row: TokenWithOwner): TokenRow => ({
  hash: row.hash,
  submissionId: row.submission_id,
  tenant: row.tenant,
  intakeId: row.intake_id,
  version: row.version,
  epoch: row.epoch,
  issuedAt: row.issued_at,
  expiresAt: row.expires_at,
  ...(row.rotated_at !== null && { rotatedAt: row.rotated_at }),
});

type Events = Row<typeof events>;

const jsonOrNull = <Value>(value: Value | null): Json<Value> | null => (value === null ? null : toJson(value));
const valueOrNull = <Value>(json: Json<Value> | null): Value | null => (json === null ? null : fromJson(json));

/** Without a position: the store assigns it. */
export const eventToWrite = ({ tenant, row }: Change, event: ChainedEvent): Omit<Events, "position"> => ({
  tenant,
  submission_id: event.submissionId,
  intake_id: row.submission.intakeId,
  stream: event.stream,
  seq: event.seq,
  event_id: event.eventId,
  type: event.type,
  ts: event.ts,
  state: event.state,
  version: event.version,
  actor: jsonOrNull(event.actor),
  payload: jsonOrNull(event.payload),
  actor_salt: event.actorSalt,
  actor_digest: event.actorDigest,
  payload_salt: event.payloadSalt,
  payload_digest: event.payloadDigest,
  prev_hash: event.prevHash,
  hash: event.hash,
});

export const eventOf = (row: Omit<Events, "tenant" | "position" | "intake_id">): ChainedEvent => ({
  eventId: row.event_id,
  seq: row.seq,
  stream: row.stream,
  type: row.type,
  submissionId: row.submission_id,
  ts: row.ts,
  state: row.state,
  version: row.version,
  actor: valueOrNull(row.actor),
  payload: valueOrNull(row.payload),
  actorSalt: row.actor_salt,
  actorDigest: row.actor_digest,
  payloadSalt: row.payload_salt,
  payloadDigest: row.payload_digest,
  prevHash: row.prev_hash,
  hash: row.hash,
});

export const feedEventOf = (row: Events): FeedEvent => ({
  position: row.position,
  intakeId: row.intake_id,
  event: eventOf(row),
});

type Records = Row<typeof records>;

/** Without the time: it comes from the store's clock. */
export function recordToWrite({ tenant, row: { submission } }: Change, key: KeyWrite): Omit<Records, "recorded_at"> {
  return {
    tenant,
    submission_id: submission.submissionId,
    intake_id: submission.intakeId,
    operation: key.ref.operation,
    hash: key.ref.hash,
    fingerprint: key.fingerprint,
    principal: toJson(key.principal),
    carried_version: key.carriedVersion,
    failed: key.failed,
    answer: key.answer,
    answer_by: key.answerBy ?? null,
    expires_at: key.expiresAt,
    keep_after_end_ms: key.keepAfterEndMs ?? null,
    live_until: liveUntil(key, endedAt(submission)),
  };
}

/** `isLive` as a time, so that clean-up can find the records that have expired. */
function liveUntil({ expiresAt, keepAfterEndMs }: KeyWrite, end: Instant | undefined): Instant | null {
  if (keepAfterEndMs === undefined) return expiresAt;
  return end === undefined ? null : Math.max(expiresAt, end + keepAfterEndMs);
}

/** What is left of the records of an erased submission. */
export const ERASED_RECORD = {
  fingerprint: erasedRecord.fingerprint,
  principal: toJson(erasedRecord.principal),
  answer: erasedRecord.answer,
  answer_by: null,
} satisfies Partial<Records>;

export const recordOf = (row: Omit<Records, "tenant" | "intake_id" | "live_until">): KeyRecord => ({
  ref: { operation: row.operation, hash: row.hash },
  submissionId: row.submission_id,
  fingerprint: row.fingerprint,
  principal: fromJson(row.principal),
  carriedVersion: row.carried_version,
  failed: Boolean(row.failed),
  answer: row.answer,
  ...(row.answer_by !== null && { answerBy: row.answer_by }),
  recordedAt: row.recorded_at,
  expiresAt: row.expires_at,
  ...(row.keep_after_end_ms !== null && { keepAfterEndMs: row.keep_after_end_ms }),
});

export const foundRecordOf = (row: Omit<Records, "live_until">): FoundRecord => ({
  ...recordOf(row),
  tenant: row.tenant,
  intakeId: row.intake_id,
});

const HASH_LENGTH = 64;

/** The first and the last hash that begin with this. */
export const hashRange = (prefix: string): [string, string] => [
  prefix.padEnd(HASH_LENGTH, "0"),
  prefix.padEnd(HASH_LENGTH, "f"),
];

type Expired = "tenant" | "intake_id" | "operation" | "hash" | "submission_id" | "recorded_at" | "expires_at";

export const expiredRecordOf = (row: Pick<Records, Expired>): ExpiredRecord => ({
  tenant: row.tenant,
  intakeId: row.intake_id,
  operation: row.operation,
  hash: row.hash,
  submissionId: row.submission_id,
  recordedAt: row.recorded_at,
  expiresAt: row.expires_at,
});

/** Sorts after every id. */
export const LAST_ID = "\u{10ffff}";

export const handoffRow = (handoff: Handoff): Row<typeof handoffs> => ({
  tenant: handoff.tenant,
  submission_id: handoff.submissionId,
  handoff_id: handoff.handoffId,
  forget_after: handoff.forgetAfter,
  doc: toJson(handoff),
});

export const handoffKeyRows = (handoff: Handoff): Row<typeof handoffKeys>[] =>
  handoffHashes(handoff).map((hash) => ({ hash, handoff_id: handoff.handoffId }));

export const reviewLinkRow = (link: ReviewLink): Row<typeof reviewLinks> => ({
  tenant: link.tenant,
  submission_id: link.submissionId,
  link_id: link.linkId,
  hash: link.hash,
  forget_after: link.forgetAfter,
  doc: toJson(link),
});

/** The jobs that a change adds, unclaimed. Of two with the same key, the later one wins. */
export function jobsToWrite({ tenant, jobs: added, row: { submission } }: Change): Row<typeof jobs>[] {
  const { submissionId, intakeId } = submission;
  const rows = added.map(({ key, kind, runAt }: NewJob) => ({
    tenant,
    key,
    kind,
    lane: laneOf(kind, intakeId),
    submission_id: submissionId,
    run_at: runAt,
    attempt: 0,
    leased_until: 0,
  }));
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}

export const jobOf = (row: Row<typeof jobs>): Job => ({
  tenant: row.tenant,
  submissionId: row.submission_id,
  key: row.key,
  kind: row.kind,
  lane: row.lane,
  runAt: row.run_at,
  attempt: row.attempt,
  leasedUntil: row.leased_until,
});

export const apiKeyRow = (key: ApiKey): Row<typeof apiKeys> => ({
  key_id: key.keyId,
  hash: key.hash,
  tenant: key.tenant,
  expires_at: key.expiresAt ?? null,
  revoked: false,
  doc: toJson(key),
});

type IntakeColumns = Omit<Row<typeof intakes>, "id"> & Pick<Row<typeof definitions>, "definition">;

export const intakeOf = (row: IntakeColumns): StoredIntake => ({
  tenant: row.tenant,
  source: row.source,
  definition: fromJson(row.definition),
  digest: row.digest,
  retired: Boolean(row.retired),
  updatedAt: row.updated_at,
});

/** What a change publishes, if anything. The store adds the time. */
