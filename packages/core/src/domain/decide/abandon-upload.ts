import { stateWithout } from "../files/pending.ts";
import { alreadyConfirmed, unknownUpload } from "../files/refusals.ts";
import type { Submission } from "../submission.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

/** Abandons a pending upload: it no longer blocks the submission, and its URL accepts nothing. */
export function decideAbandonUpload(submission: Submission, uploadId: string, context: DecideContext): Decision {
  const upload = submission.uploads.find((known) => known.uploadId === uploadId);
  if (upload === undefined) return refuse(unknownUpload(submission, uploadId, context));
  if (upload.confirmed !== undefined) return refuse(alreadyConfirmed(submission, upload, context.intake));
  const to = stateWithout(submission, upload, context.now);
  return { events: [{ type: "upload.abandoned", to, uploadId, field: upload.field }], token: "rotate" };
}
