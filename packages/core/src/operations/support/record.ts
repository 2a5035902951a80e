import type { SubmissionRecord, SubmissionSummary } from "@formbridge/contract";
import { pendingUploads } from "../../domain/decide/validate.ts";
import { MASK, maskFields } from "../../domain/fields/mask.ts";
import { isSensitiveUpload } from "../../domain/files/sensitive-uploads.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Delivery, Review, Submission } from "../../domain/submission.ts";
import { isEditable } from "../../domain/transitions.ts";
import { findingsOf, markOf, type Shown } from "./answer.ts";
import type { Sight } from "./run-read.ts";

const when = <Key extends string>(key: Key, at: Instant | undefined): { [K in Key]?: string } =>
  (at === undefined ? {} : { [key]: toIso(at) }) as { [K in Key]?: string };

/** The record of a submission, as much of it as its reader may see. */
export function recordOf(shown: Shown, seen: Sight): SubmissionRecord {
  const { submission, intake, now } = shown;
  // Of an erased one there is nothing else, and what is not there is not called missing.
  const sight = submission.erasedAt === undefined ? seen : "state";
  const { expiresAt, state } = submission;
  return {
    ...markOf(shown),
    intakeId: submission.intakeId,
    intakeVersion: submission.intakeVersion,
    ...(sight !== "state" && {
      fields: sight === "all" ? submission.fields : maskFields(submission.fields, intake),
      schema: intake.definition.schema,
      attribution: attributionOf(submission),
      ...findingsOf(shown),
    }),
    createdAt: toIso(submission.createdAt),
    updatedAt: toIso(submission.updatedAt),
    originalTimestamp: toIso(submission.createdAt),
    createdBy: submission.createdBy,
    lastUpdatedBy: submission.lastUpdatedBy,
    replayCount: submission.replayCount,
    ...(isEditable(state) && {
      expiresAt: toIso(expiresAt),
      ttl: { expiresAt: toIso(expiresAt), remainingMs: Math.max(0, expiresAt - now) },
    }),
    ...endings(submission),
    ...(sight !== "state" && progress(shown, sight)),
  };
}

function attributionOf({ attribution: { paths, writes } }: Submission): NonNullable<SubmissionRecord["attribution"]> {
  const told = new Map(
    Object.entries(writes).map(([version, { actor, at }]) => [
      version,
      { actor, at: toIso(at), version: Number(version) },
    ]),
  );
  const shown: NonNullable<SubmissionRecord["attribution"]> = {};
  for (const [path, version] of Object.entries(paths)) {
    const write = told.get(String(version));
    if (write !== undefined) shown[path] = write;
  }
  return shown;
}
const endings = (submission: Submission) => ({
  ...when("submittedAt", submission.submittedAt),
  ...(submission.state === "finalized" && when("finalizedAt", submission.finalizedAt)),
  ...(submission.state === "cancelled" && when("cancelledAt", submission.cancelledAt)),
  ...(submission.state === "expired" && when("expiredAt", submission.expiredAt)),
  ...when("erasedAt", submission.erasedAt),
});

/** Uploads, reviews and delivery, where there are any. */
function progress({ submission, intake, now }: Shown, sight: Sight) {
  const pending = pendingUploads(submission, now);
  return {
    ...(pending.length > 0 && {
      pendingUploads: pending.map((upload) => ({
        field: upload.field,
        uploadId: upload.uploadId,
        filename: sight === "masked" && isSensitiveUpload(upload, intake) ? MASK : upload.filename,
        sizeBytes: upload.sizeBytes,
        mimeType: upload.mimeType,
        requestedAt: toIso(upload.requestedAt),
      })),
    }),
    ...(submission.rejections.length > 0 && {
      rejections: submission.rejections.map((rejection) => ({ ...rejection, at: toIso(rejection.at) })),
    }),
    ...(submission.review && { reviewState: reviewState(submission.review, intake) }),
    ...(submission.delivery && { deliveryState: deliveryState(submission.delivery) }),
  };
}

function reviewState(review: Review, intake: CompiledIntake): NonNullable<SubmissionRecord["reviewState"]> {
  const gate = intake.definition.approvalGates?.[review.gateIndex];
  const { escalateTo } = gate?.reviewers ?? {};
  const groups = [gate?.reviewers, ...(review.escalatedAt === undefined ? [] : [escalateTo])];
  return {
    gate: review.gate,
    requestedAt: toIso(review.requestedAt),
    ...when("escalatedAt", review.escalatedAt),
    reviewers: groups.flatMap((group) => [...(group?.ids ?? []), ...(group?.roles ?? [])]),
    approvals: review.approvals.map(({ by, at }) => ({ by, at: toIso(at) })),
    requiredApprovals: gate?.requiredApprovals ?? 1,
    ...(review.decision && { decision: review.decision }),
    ...(review.decidedBy && { decidedBy: review.decidedBy }),
    ...when("decidedAt", review.decidedAt),
    ...(review.reasons && { reasons: review.reasons }),
  };
}

export const deliveryState = (delivery: Delivery): NonNullable<SubmissionRecord["deliveryState"]> => ({
  deliveryId: delivery.deliveryId,
  attemptCount: delivery.attemptCount,
  ...(delivery.inFlight === true && { inFlight: true }),
  ...when("lastAttemptAt", delivery.lastAttemptAt),
  ...(delivery.lastError !== undefined && { lastError: delivery.lastError }),
  ...when("nextAttemptAt", delivery.nextAttemptAt),
  ...(delivery.givenUp === true && { givenUp: true }),
  ...when("deliveredAt", delivery.deliveredAt),
});

/** A row of a list: sensitive values masked, and values only when asked for. */
export function summaryOf(
  submission: Submission,
  { intake, values }: { intake: CompiledIntake; values: boolean },
): SubmissionSummary {
  return {
    submissionId: submission.submissionId,
    intakeId: submission.intakeId,
    state: submission.state,
    version: submission.version,
    createdAt: toIso(submission.createdAt),
    updatedAt: toIso(submission.updatedAt),
    ...(isEditable(submission.state) && { expiresAt: toIso(submission.expiresAt) }),
    ...when("erasedAt", submission.erasedAt),
    createdBy: submission.createdBy,
    lastUpdatedBy: submission.lastUpdatedBy,
    missingCount: submission.missingCount,
    ...(values && submission.erasedAt === undefined && { fields: maskFields(submission.fields, intake) }),
  };
}
