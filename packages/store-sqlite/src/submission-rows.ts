import type { Submission, SubmissionRow } from "@formbridge/core";

export function rowOf(doc: string, sealedFields: string | null): SubmissionRow {
  const submission: Submission = JSON.parse(doc);
  return sealedFields === null ? { submission } : { submission, sealedFields };
}
