import type { Instant } from "../instant.ts";
import type { Submission, Upload } from "../submission.ts";

/** Announced, not confirmed, and its URL still valid: an expired one doesn't block the submission. */
export const pendingUploads = ({ uploads }: Pick<Submission, "uploads">, now: Instant): Upload[] =>
  uploads.filter((upload) => upload.confirmed === undefined && now < upload.expiresAt);

/** The state after a write, which depends only on pending uploads. */
export const stateWritten = (
  submission: Pick<Submission, "uploads">,
  now: Instant,
): "awaiting_upload" | "in_progress" =>
  pendingUploads(submission, now).length > 0 ? "awaiting_upload" : "in_progress";

/** The state once this upload is no longer pending. */
export const stateWithout = ({ uploads }: Pick<Submission, "uploads">, { uploadId }: Upload, now: Instant) =>
  stateWritten({ uploads: uploads.filter((other) => other.uploadId !== uploadId) }, now);
