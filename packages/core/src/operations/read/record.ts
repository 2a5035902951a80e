import type { SubmissionRecord, SubmissionSummary } from "@formbridge/contract";
import { deliveryState } from "../../domain/delivery/delivery-state.ts";
import { MASK, maskFields } from "../../domain/fields/mask.ts";
import { pendingUploads } from "../../domain/files/pending.ts";
import { isSensitiveUpload } from "../../domain/files/sensitive-uploads.ts";
import { toIso, when } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { gateAt, namesIn } from "../../domain/review/reviewers.ts";
import type { Activity, Submission } from "../../domain/submission.ts";
import { isEditable } from "../../domain/transitions.ts";
import { fieldsOf, findingsOf, markOf, type Shown } from "./response.ts";
import type { Sight } from "./run-read.ts";

/** A submission's record, limited to what the reader may see. */
export function recordOf(shown: Shown, seen: Sight): SubmissionRecord {
  const { submission, intake, now } = shown;
  // An erased submission has nothing else, and its fields aren't reported as missing.
  const sight = submission.erasedAt === undefined ? seen : "state";
  const { expiresAt, state } = submission;
  const { deliveryState: _under, ...mark } = markOf(shown);
  return {
    ...mark,
    intakeId: submission.intakeId,
    intakeVersion: submission.intakeVersion,
    ...(sight !== "state" && {
      fields: fieldsOf({ ...shown, masked: sight === "masked" }),
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
    ...(submission.erasedAt === undefined && handoffsOf(shown)),
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

const RECENT_MS = 60_000;

/** Who is working on it, and who has completed their hand-off. */
function handoffsOf({ submission, now }: Shown): Pick<SubmissionRecord, "recentActivity" | "completedHandoff"> {
  const { activity = {}, completedHandoff } = submission;
  const recent = (who: Activity | undefined) =>
    who !== undefined && now - who.at <= RECENT_MS ? { actor: who.actor, at: toIso(who.at) } : undefined;
  const [byAgent, byHuman] = [recent(activity.agent), recent(activity.human)];
  return {
    ...((byAgent ?? byHuman) && { recentActivity: { ...(byAgent && { byAgent }), ...(byHuman && { byHuman }) } }),
    ...(completedHandoff && {
      completedHandoff: { handoffId: completedHandoff.handoffId, completedAt: toIso(completedHandoff.at) },
    }),
  };
}

const endings = (submission: Submission) => ({
  ...when("submittedAt", submission.submittedAt),
  ...(submission.state === "finalized" && when("finalizedAt", submission.finalizedAt)),
  ...(submission.state === "cancelled" && when("cancelledAt", submission.cancelledAt)),
  ...(submission.state === "expired" && when("expiredAt", submission.expiredAt)),
  ...when("erasedAt", submission.erasedAt),
});

/** Uploads, reviews and delivery, if there are any. */
function progress(shown: Shown, sight: Sight) {
  const { submission, intake } = shown;
  return {
    ...pendingOf(shown, sight),
    ...(submission.rejections.length > 0 && {
      rejections: submission.rejections.map((rejection) => ({
        ...rejection,
        ...namesIn(intake.definition.approvalGates, rejection.gate),
        at: toIso(rejection.at),
      })),
    }),
    ...reviewOf(submission, intake),
    ...(submission.delivery && { deliveryState: deliveryState(submission.delivery) }),
  };
}

/** The announced files that aren't confirmed, if there are any. */
export function pendingOf({ submission, intake, now }: Shown, sight: Sight): Pick<SubmissionRecord, "pendingUploads"> {
  const pending = pendingUploads(submission, now);
  if (pending.length === 0) return {};
  return {
    pendingUploads: pending.map((upload) => ({
      field: upload.field,
      uploadId: upload.uploadId,
      filename: sight === "masked" && isSensitiveUpload(upload, intake) ? MASK : upload.filename,
      sizeBytes: upload.sizeBytes,
      mimeType: upload.mimeType,
      requestedAt: toIso(upload.requestedAt),
    })),
  };
}

/** The gate that the submission is waiting at, or the last one it passed. */
export function reviewOf(submission: Submission, intake: CompiledIntake): Pick<SubmissionRecord, "reviewState"> {
  const { review } = submission;
  if (review === undefined) return {};
  const gate = gateAt(submission, intake.definition.approvalGates, review.gateIndex);
  const { escalateTo } = gate?.reviewers ?? {};
  const groups = [gate?.reviewers, ...(review.escalatedAt === undefined ? [] : [escalateTo])];
  const reviewState = {
    ...namesIn(intake.definition.approvalGates, review.gate),
    requestedAt: toIso(review.requestedAt),
    ...when("escalatedAt", review.escalatedAt),
    ...when("reassignedAt", review.reassigned?.at),
    reviewers: groups.flatMap((group) => [...(group?.ids ?? []), ...(group?.roles ?? [])]),
    approvals: review.approvals.map((approval) => ({ ...approval, at: toIso(approval.at) })),
    requiredApprovals: gate?.requiredApprovals ?? 1,
    ...(review.decision && { decision: review.decision }),
    ...(review.decidedBy && { decidedBy: review.decidedBy }),
    ...when("decidedAt", review.decidedAt),
    ...(review.reasons && { reasons: review.reasons }),
    ...(review.fieldReasons && { fieldReasons: review.fieldReasons }),
  };
  return { reviewState };
}

/** A row of a list: sensitive values masked, and values only if requested. */
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
