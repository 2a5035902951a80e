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

/** Of `formbridge.records AS r`, as `RecordColumns`. */
export const RECORD_COLUMNS = [
  "operation",
  "hash",
  "submission_id",
  "fingerprint",
  "principal",
  "carried_version",
  "failed",
  "answer",
  "answer_by",
  "recorded_at",
  "expires_at",
  "keep_after_end_ms",
]
  .map((column) => `r.${column} AS record_${column}`)
  .join(", ");

interface SubmissionColumns {
  doc: string | null;
  sealed_fields: string | null;
  sealed_token: string;
}

/** What a submission that has moved is told by, in one piece. NULL where there is nothing. */
export interface StaleColumns extends SubmissionColumns, RecordColumns {
  now: number;
}

/** What a load answers; absent is what it was not asked for, NULL what is not there. */
export interface LoadedColumns extends Partial<SubmissionColumns>, Partial<TokenColumns> {
  now: number;
  definition_digest?: string | null;
  definition_tenant?: string;
  handoff?: string | null;
  link?: string | null;
  record: RecordColumns | null;
}

export function rowOf(doc: string, sealedFields: string | null): SubmissionRow {
  const submission: Submission = JSON.parse(doc);
  return sealedFields === null ? { submission } : { submission, sealedFields };
}

const snapshotOf = ({ doc, sealed_fields, sealed_token }: SubmissionColumns): Loaded["submission"] =>
  doc === null ? undefined : { ...rowOf(doc, sealed_fields), sealedToken: sealed_token };

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

const parsed = (json: string | null | undefined) =>
  json === null || json === undefined ? undefined : JSON.parse(json);
const isThere = <Columns extends object>(columns: Partial<Columns>, name: keyof Columns): columns is Columns =>
  columns[name] !== undefined;

/** `token` is the hash that was asked for, if that was the question. */
export function loadedOf(columns: LoadedColumns, token = ""): Loaded {
  const submission = isThere<SubmissionColumns>(columns, "doc") ? snapshotOf(columns) : undefined;
  const presented = isThere<TokenColumns>(columns, "token_version") ? presentedOf(token, columns) : undefined;
  const { definition_digest: digest, definition_tenant: tenant } = columns;
  const record = columns.record === null ? undefined : recordOf(columns.record);
  const handoff = parsed(columns.handoff);
  const link = parsed(columns.link);
  return {
    now: columns.now,
    ...(submission !== undefined && { submission }),
    ...(presented !== undefined && { presented }),
    ...(typeof digest === "string" && tenant !== undefined && { definition: { digest, tenant } }),
    ...(handoff !== undefined && { handoff }),
    ...(link !== undefined && { link }),
    ...(record !== undefined && { record }),
  };
}
