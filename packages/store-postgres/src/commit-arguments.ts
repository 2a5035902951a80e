import {
  type AuditEvent,
  type ChainedEvent,
  type Change,
  endedAt,
  handoffHashes,
  isEditable,
  laneOf,
  type NewJob,
  type SideRow,
} from "@formbridge/core";
import type { Value } from "./database.ts";

/** Every argument of `formbridge.commit_change`, by name: what a change says, as columns. */
function argumentsOf(change: Change) {
  const { tenant, expect, row, token, key, events, audit, side, jobs, dropJobs } = change;
  const { submission } = row;
  const { submissionId, intakeId, state, version, revision, expiresAt, warnAt, createdBy, createdAt } = submission;
  const revised = "absent" in expect ? undefined : expect;
  return {
    p_tenant: tenant,
    p_submission_id: submissionId,
    p_expected_revision: revised?.revision,
    p_not_after: revised?.notAfter,
    p_intake_id: intakeId,
    p_created_by: JSON.stringify(createdBy.id),
    p_created_at: createdAt,
    p_state: state,
    p_editable: isEditable(state),
    p_expires_at: expiresAt,
    p_warn_at: isEditable(state) ? warnAt : undefined,
    p_ended_at: endedAt(submission),
    p_version: version,
    p_revision: revision,
    p_sealed_fields: row.sealedFields,
    p_doc: JSON.stringify(submission),
    p_token_hash: token?.hash,
    p_token_sealed: token?.sealed,
    p_token_epoch: token?.epoch,
    p_token_issued_at: token && submission.token.issuedAt,
    p_token_expires_at: token?.expiresAt,
    p_key_operation: key?.ref.operation,
    p_key_hash: key?.ref.hash,
    p_key_replaces: key?.replaces,
    p_key_fingerprint: key?.fingerprint,
    p_key_principal: key && JSON.stringify(key.principal),
    p_key_carried_version: key?.carriedVersion,
    p_key_failed: key?.failed,
    p_key_answer: key?.answer,
    p_key_answer_by: key?.answerBy,
    p_key_expires_at: key?.expiresAt,
    p_key_keep_after_end_ms: key?.keepAfterEndMs,
    p_events: listed(events.map(eventColumns)),
    p_audit: listed(audit.map(auditColumns)),
    p_handoffs: listed(side.map(handoffColumns)),
    p_jobs: listed(lastOfEach(jobs).map((job) => jobColumns(job, intakeId))),
    p_drop_jobs: dropJobs.length === 0 ? undefined : dropJobs,
  } satisfies Record<string, Value | undefined>;
}

const handoffColumns = ({ handoff }: SideRow) => ({
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

const listed = (rows: readonly object[]): string | undefined => (rows.length === 0 ? undefined : JSON.stringify(rows));

/** A later job takes the place of an earlier one with its key. */
const lastOfEach = (jobs: readonly NewJob[]): NewJob[] => [...new Map(jobs.map((job) => [job.key, job])).values()];

function auditColumns(event: AuditEvent) {
  if (event.stream === "submission") throw new TypeError("the submission stream is chained by the caller");
  return envelope(event);
}

const eventColumns = (event: ChainedEvent) => ({
  ...envelope(event),
  seq: event.seq,
  prev_hash: event.prevHash,
  hash: event.hash,
});

const envelope = (event: AuditEvent) => ({
  event_id: event.eventId,
  stream: event.stream,
  type: event.type,
  ts: event.ts,
  state: event.state,
  version: event.version,
  actor: event.actor === null ? null : JSON.stringify(event.actor),
  payload: event.payload === null ? null : JSON.stringify(event.payload),
  actor_salt: event.actorSalt,
  actor_digest: event.actorDigest,
  payload_salt: event.payloadSalt,
  payload_digest: event.payloadDigest,
});

type ArgumentName = keyof ReturnType<typeof argumentsOf>;

/** The order in which they are sent. */
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
  "p_token_hash",
  "p_token_sealed",
  "p_token_epoch",
  "p_token_issued_at",
  "p_token_expires_at",
  "p_key_operation",
  "p_key_hash",
  "p_key_replaces",
  "p_key_fingerprint",
  "p_key_principal",
  "p_key_carried_version",
  "p_key_failed",
  "p_key_answer",
  "p_key_answer_by",
  "p_key_expires_at",
  "p_key_keep_after_end_ms",
  "p_events",
  "p_audit",
  "p_handoffs",
  "p_jobs",
  "p_drop_jobs",
] as const satisfies ArgumentName[];

export const COMMIT_ARGUMENTS = NAMES.map((name, index) => `${name} => $${index + 1}`).join(", ");

export function commitValues(change: Change): Value[] {
  const values = argumentsOf(change);
  return NAMES.map((name) => values[name] ?? null);
}
