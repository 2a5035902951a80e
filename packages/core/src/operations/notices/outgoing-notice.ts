import type { JsonObject } from "@formbridge/contract";
import { sha256 } from "../../domain/hashing.ts";
import { toIso } from "../../domain/instant.ts";
import type { HookNotice } from "../../domain/notices/notice.ts";
import { namesIn } from "../../domain/review/reviewers.ts";
import { isEditable } from "../../domain/transitions.ts";
import type { OutgoingDelivery } from "../../ports/courier.ts";
import type { Job } from "../../ports/jobs.ts";
import type { Deps } from "../deps.ts";
import type { LoadedSubmission } from "../read/load-submission.ts";

/** The payload for the operator's webhook; undefined if it is outdated. Contains no field values. */
export function outgoingNotice(
  deps: Deps,
  job: Job,
  { notice, found, url }: { notice: HookNotice; found: LoadedSubmission; url: string },
): OutgoingDelivery | undefined {
  const { submission } = found;
  const about = aboutOf(notice, found);
  if (about === undefined) return undefined;
  const { tenant, intakeId, submissionId } = submission;
  return {
    // The same for every attempt, but different after a resubmission.
    deliveryId: `ntf_${sha256(`${job.key} ${submission.delivery?.deliveryId ?? ""}`).slice(0, 32)}`,
    tenant,
    intakeId,
    submissionId,
    destination: { kind: "webhook", url },
    body: JSON.stringify({ type: notice.type, submissionId, intakeId, ...about }),
    submittedAt: submission.submittedAt ?? submission.updatedAt,
    attempt: job.attempt,
    secrets: deps.webhookSecrets({ tenant, intakeId }),
  };
}

function aboutOf({ type, gate }: HookNotice, { submission, intake }: LoadedSubmission): JsonObject | undefined {
  const gates = intake.definition.approvalGates;
  switch (type) {
    case "review.requested":
    case "review.escalated":
      return submission.state === "needs_review" && submission.review.gateIndex === gate
        ? { ...namesIn(gates, submission.review.gate), requestedAt: toIso(submission.review.requestedAt) }
        : undefined;
    case "review.rejected": {
      const last = submission.rejections.at(-1);
      if (submission.state !== "rejected" || last === undefined) return undefined;
      const { gate: at, reasons, fieldReasons } = last;
      return { ...namesIn(gates, at), reasons, ...(fieldReasons && { fieldReasons }) };
    }
    case "submission.finalized":
      return submission.state === "finalized" ? { finalizedAt: toIso(submission.finalizedAt) } : undefined;
    case "submission.ttl_warning":
      return isEditable(submission.state) ? { expiresAt: toIso(submission.expiresAt) } : undefined;
  }
}
