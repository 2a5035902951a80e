import {
  type AuditEvent,
  type ChainedEvent,
  type Change,
  endedAt,
  type Handoff,
  handoffHashes,
  handoffsIn,
  isEditable,
  type KeyWrite,
  laneOf,
  type NewJob,
  textAroundPlace,
} from "@formbridge/core";
import type { Value } from "./sized-query.ts";

/** The arguments of `formbridge.commit_change`, in the order of `commitValues`. */
const NAMES = [
  "p_tenant",
  "p_submission_id",
  "p_expected_revision",
  "p_not_after",
  "p_intake_id",
  "p_created_by",
  "p_created_at",
  "p_state",
  "p_editable",
  "p_expires_at",
  "p_warn_at",
  "p_ended_at",
  "p_version",
  "p_revision",
  "p_sealed_fields",
  "p_doc",
  "p_definition",
  "p_token_hash",
  "p_token_sealed",
  "p_token_epoch",
  "p_token_issued_at",
  "p_token_expires_at",
  "p_events",
  "p_chained",
  "p_record",
  "p_handoffs",
  "p_jobs",
  "p_drop_jobs",
] as const;

/** One change, which waits for the locks of others. */
export const COMMIT_CALL = `formbridge.commit_change(${NAMES.map((name, index) => `${name} => $${index + 1}`).join(", ")},
  p_may_wait => true) AS answer`;

/** For what a statement takes beside the values of the change: the first, the second and so on. */
export const nextValue = (place: number): string => `$${NAMES.length + place}`;

/** What a change says, as columns. */
export function commitValues(change: Change): Value[] {
  const { tenant, expect, row, token, events, audit } = change;
  const { submission } = row;
  const revised = "absent" in expect ? undefined : expect;
  return [
    tenant,
    submission.submissionId,
    revised?.revision ?? null,
    revised?.notAfter ?? null,
    submission.intakeId,
    JSON.stringify(submission.createdBy.id),
    submission.createdAt,
    submission.state,
    isEditable(submission.state),
    submission.expiresAt,
    (isEditable(submission.state) ? submission.warnAt : null) ?? null,
    endedAt(submission) ?? null,
    submission.version,
    submission.revision,
    row.sealedFields ?? null,
    JSON.stringify(submission),
    submission.definition,
    token?.hash ?? null,
    token?.sealed ?? null,
    token?.epoch ?? null,
    token === undefined ? null : submission.token.issuedAt,
    token?.expiresAt ?? null,
    [...events.flatMap(eventColumns), ...audit.flatMap(openEventColumns)],
    audit.length,
    change.key === undefined ? null : JSON.stringify(recordColumns(change.key)),
    listed(handoffsIn(change.side).map(handoffColumns)),
    listed(lastOfEach(change.jobs).map((job) => jobColumns(job, submission.intakeId))),
    change.dropJobs.length === 0 ? null : change.dropJobs,
  ];
}

const recordColumns = ({ ref, ...key }: KeyWrite) => ({
  operation: ref.operation,
  hash: ref.hash,
  replaces: key.replaces,
  fingerprint: key.fingerprint,
  principal: JSON.stringify(key.principal),
  carried_version: key.carriedVersion,
  failed: key.failed,
  answer: key.answer,
  answer_by: key.answerBy,
  expires_at: key.expiresAt,
  keep_after_end_ms: key.keepAfterEndMs,
});

const handoffColumns = (handoff: Handoff) => ({
  handoff_id: handoff.handoffId,
  forget_after: handoff.forgetAfter,
  doc: JSON.stringify(handoff),
  hashes: handoffHashes(handoff),
});

const jobColumns = ({ key, kind, runAt }: NewJob, intakeId: string) => ({
  key,
  kind,
  lane: laneOf(kind, intakeId),
  run_at: runAt,
});

const listed = (rows: readonly object[]): string | null => (rows.length === 0 ? null : JSON.stringify(rows));

/** A later job takes the place of an earlier one with its key. */
const lastOfEach = (jobs: readonly NewJob[]): NewJob[] => [...new Map(jobs.map((job) => [job.key, job])).values()];

type EventColumns = (string | null)[];

const eventColumns = (event: ChainedEvent): EventColumns =>
  columnsOf(event, { seq: String(event.seq), prevHash: event.prevHash, hash: event.hash });

/** Of an event that the database puts at the end of its chain: the text that its hash covers, cut open where that end goes. */
export function textAroundChain(event: AuditEvent): { before: string; after: string } {
  if (event.stream === "submission") throw new TypeError("the submission stream is chained by the caller");
  return textAroundPlace(event);
}

function openEventColumns(event: AuditEvent): EventColumns {
  const { before, after } = textAroundChain(event);
  return columnsOf(event, { seq: null, prevHash: before, hash: after });
}

const columnsOf = (
  event: AuditEvent,
  { seq, prevHash, hash }: { seq: string | null; prevHash: string; hash: string },
): EventColumns => [
  event.eventId,
  event.stream,
  seq,
  event.type,
  event.ts,
  event.state,
  String(event.version),
  event.actor === null ? null : JSON.stringify(event.actor),
  event.payload === null ? null : JSON.stringify(event.payload),
  event.actorSalt,
  event.actorDigest,
  event.payloadSalt,
  event.payloadDigest,
  prevHash,
  hash,
];
