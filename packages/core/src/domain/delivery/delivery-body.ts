import { canonicalJson } from "../hashing.ts";
import { toIso } from "../instant.ts";
import type { Submission } from "../submission.ts";

/**
 * What a destination receives: the submission as it was submitted. Uses only data that doesn't change afterwards, so
 * that every attempt sends the same text.
 */
export function deliveryBody(submission: Submission & { state: "submitted" | "approved" }): string {
  const { submissionId, intakeId, intakeVersion, fields, createdAt, createdBy, submittedAt, submittedBy } = submission;
  return canonicalJson({
    type: "submission.delivery",
    timestamp: toIso(submittedAt),
    data: {
      deliveryId: submission.delivery.deliveryId,
      submissionId,
      intakeId,
      intakeVersion,
      fields,
      createdAt: toIso(createdAt),
      createdBy,
      submittedAt: toIso(submittedAt),
      submittedBy: submittedBy ?? createdBy,
    },
  });
}
