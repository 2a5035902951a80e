import type { KeyRecord, Loaded, Submission, SubmissionRow, TokenRow } from "@formbridge/core";

interface TokenColumns {
  token_submission_id: string;
  token_tenant: string;
  token_intake_id: string;
  token_version: number | null;
  token_epoch: number;
  token_issued_at: number;
  token_expires_at: number;
  token_rotated_at: number | null;
}

export interface RecordColumns {
  record_operation: KeyRecord["ref"]["operation"];
  record_hash: string | null;
  record_submission_id: string;
  record_fingerprint: string;
  record_principal: string;
  record_carried_version: number;
  record_failed: boolean;
  record_answer: string;
  record_answer_by: number | null;
  record_recorded_at: number;
  record_expires_at: number;
  record_keep_after_end_ms: number | null;
}

/** What the load functions answer; NULL where there is nothing. */
export interface LoadedColumns extends TokenColumns, RecordColumns {
  now: number;
  doc: string | null;
  sealed_fields: string | null;
  sealed_token: string;
  definition_digest: string | null;
  definition_tenant: string;
  handoff: string | null;
}

export function rowOf(doc: string, sealedFields: string | null): SubmissionRow {
  const submission: Submission = JSON.parse(doc);
  return sealedFields === null ? { submission } : { submission, sealedFields };
}

function presentedOf(hash: string, columns: TokenColumns): TokenRow | undefined {
  if (columns.token_version === null) return undefined;
  return {
    hash,
    submissionId: columns.token_submission_id,
    tenant: columns.token_tenant,
    intakeId: columns.token_intake_id,
    version: columns.token_version,
    epoch: columns.token_epoch,
    issuedAt: columns.token_issued_at,
    expiresAt: columns.token_expires_at,
    ...(columns.token_rotated_at !== null && { rotatedAt: columns.token_rotated_at }),
  };
}

export function recordOf(columns: RecordColumns): KeyRecord | undefined {
  if (columns.record_hash === null) return undefined;
  return {
    ref: { operation: columns.record_operation, hash: columns.record_hash },
    submissionId: columns.record_submission_id,
    fingerprint: columns.record_fingerprint,
    principal: JSON.parse(columns.record_principal),
    carriedVersion: columns.record_carried_version,
    failed: columns.record_failed,
    answer: columns.record_answer,
    ...(columns.record_answer_by !== null && { answerBy: columns.record_answer_by }),
    recordedAt: columns.record_recorded_at,
    expiresAt: columns.record_expires_at,
    ...(columns.record_keep_after_end_ms !== null && { keepAfterEndMs: columns.record_keep_after_end_ms }),
  };
}

/** `token` is the hash that was asked for, if that was the question. */
export function loadedOf(columns: LoadedColumns, token = ""): Loaded {
  const loaded: Loaded = { now: columns.now };
  const { doc, sealed_fields, sealed_token, definition_digest, definition_tenant } = columns;
  if (doc !== null) loaded.submission = { ...rowOf(doc, sealed_fields), sealedToken: sealed_token };
  const presented = presentedOf(token, columns);
  if (presented !== undefined) loaded.presented = presented;
  if (definition_digest !== null) loaded.definition = { digest: definition_digest, tenant: definition_tenant };
  if (columns.handoff !== null) loaded.handoff = JSON.parse(columns.handoff);
  const record = recordOf(columns);
  if (record !== undefined) loaded.record = record;
  return loaded;
}
