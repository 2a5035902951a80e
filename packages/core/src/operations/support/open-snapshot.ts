import type { JsonObject } from "@formbridge/contract";
import { joinSensitive, splitSensitive } from "../../domain/fields/mask.ts";
import { joinUploads, splitUploads } from "../../domain/files/sensitive-uploads.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Sealed, Sealer } from "../../ports/sealer.ts";
import { erasedRecord, type Snapshot, type SubmissionRow } from "../../ports/store.ts";

/** What a sealed value is bound to: moved to another row, it does not open. */
export const boundToToken = (submission: Submission): string =>
  `token:${submission.tenant}:${submission.submissionId}:${submission.version}`;
const boundToFields = (submission: Submission): string => `fields:${submission.tenant}:${submission.submissionId}`;
export const boundToAnswer = (submission: { tenant: string; submissionId: string }): string =>
  `answer:${submission.tenant}:${submission.submissionId}`;

/** The submission with its sensitive values back in their places. */
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

/** The row to store: sensitive values, and what tells of sensitive files, taken out and sealed. */
export function closeRow(sealer: Sealer, submission: Submission, intake: CompiledIntake): SubmissionRow {
  const fields = splitSensitive(submission.fields, intake);
  const uploads = splitUploads(submission.uploads, intake);
  if (fields.sealed === undefined && uploads.sealed === undefined) return { submission };
  // Values are under pointers, which start with a slash.
  const sealed = { ...fields.sealed, ...(uploads.sealed && { uploads: uploads.sealed }) };
  return {
    submission: { ...submission, fields: fields.open, uploads: uploads.open },
    sealedFields: sealer.seal(JSON.stringify(sealed), boundToFields(submission)),
  };
}

/** The current token in clear, for those who may hold it. */
export const openToken = (sealer: Sealer, snapshot: Snapshot): string =>
  sealer.open(snapshot.sealedToken, boundToToken(snapshot.submission));

function opens(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}

/** Do these keys open all that is sealed in the row? */
export const opensSnapshot = (sealer: Sealer, snapshot: Snapshot): boolean =>
  snapshot.submission.erasedAt !== undefined || opens(() => [openToken(sealer, snapshot), openRow(sealer, snapshot)]);

/** Do these keys open the answer that was recorded for a submission? */
export const opensAnswer = (
  sealer: Sealer,
  { answer, ...submission }: { tenant: string; submissionId: string; answer: Sealed },
): boolean => answer === erasedRecord.answer || opens(() => sealer.open(answer, boundToAnswer(submission)));
