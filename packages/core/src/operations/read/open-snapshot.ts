import type { JsonObject } from "@formbridge/contract";
import { joinSensitive, splitSensitive } from "../../domain/fields/mask.ts";
import { joinUploads, splitUploads } from "../../domain/files/sensitive-uploads.ts";
import { erasedRecord } from "../../domain/idempotency/key-record.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Sealed } from "../../domain/sealed.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Sealer } from "../../ports/sealer.ts";
import type { Snapshot, SubmissionRow } from "../../ports/store.ts";
import { openDestination } from "../delivery/destination.ts";

/** What a sealed value is bound to: copied to another row, it doesn't open. */
export const boundToToken = (submission: Submission): string =>
  `token:${submission.tenant}:${submission.submissionId}:${submission.version}`;
export const boundToFields = (submission: Submission): string =>
  `fields:${submission.tenant}:${submission.submissionId}`;
export const boundToAnswer = (submission: { tenant: string; submissionId: string }): string =>
  `answer:${submission.tenant}:${submission.submissionId}`;

export const boundToExcerpt = (submission: { tenant: string; submissionId: string }): string =>
  `excerpt:${submission.tenant}:${submission.submissionId}`;

/** The submission with its sensitive values restored. */
export function openRow(sealer: Sealer, row: SubmissionRow): Submission {
  if (row.sealedFields === undefined) return row.submission;
  const { submission } = row;
  const { uploads, ...fields } = JSON.parse(sealer.open(row.sealedFields, boundToFields(submission))) as JsonObject;
  return {
    ...submission,
    fields: joinSensitive(submission.fields, fields),
    uploads: joinUploads(submission.uploads, uploads),
  };
}

/** The row to store: sensitive values, and what reveals sensitive files, are removed and sealed. */
export function closeRow(sealer: Sealer, submission: Submission, intake: CompiledIntake): SubmissionRow {
  const fields = splitSensitive(submission.fields, intake);
  const uploads = splitUploads(submission.uploads, intake);
  if (fields.sealed === undefined && uploads.sealed === undefined) return { submission };
  // No collision: values are keyed by JSON pointers, which start with a slash.
  const sealed = { ...fields.sealed, ...(uploads.sealed && { uploads: uploads.sealed }) };
  return {
    submission: { ...submission, fields: fields.open, uploads: uploads.open },
    sealedFields: sealer.seal(JSON.stringify(sealed), boundToFields(submission)),
  };
}

/** The current token in clear, for callers who may hold it. */
export const openToken = (sealer: Sealer, snapshot: Snapshot): string =>
  sealer.open(snapshot.sealedToken, boundToToken(snapshot.submission));

/** Whether something sealed can be opened. */
export function opens(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}

/** Whether these secrets open everything sealed in the row. */
export function opensSnapshot(sealer: Sealer, snapshot: Snapshot): boolean {
  const { submission } = snapshot;
  const { destination } = submission;
  if (submission.erasedAt !== undefined) return true;
  return opens(() => [
    openToken(sealer, snapshot),
    openRow(sealer, snapshot),
    destination && openDestination(sealer, submission, destination),
  ]);
}

/** Whether these secrets open a recorded response. */
export const opensAnswer = (
  sealer: Sealer,
  { answer, ...submission }: { tenant: string; submissionId: string; answer: Sealed },
): boolean => answer === erasedRecord.answer || opens(() => sealer.open(answer, boundToAnswer(submission)));
