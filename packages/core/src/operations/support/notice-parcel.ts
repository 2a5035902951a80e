import type { JsonObject } from "@formbridge/contract";
import { sha256 } from "../../domain/hashing.ts";
import { toIso } from "../../domain/instant.ts";
import type { HookNotice } from "../../domain/notices/notice.ts";
import type { Submission } from "../../domain/submission.ts";
import { isEditable } from "../../domain/transitions.ts";
import type { Parcel } from "../../ports/courier.ts";
import type { Job } from "../../ports/jobs.ts";
import type { Deps } from "../deps.ts";
import type { Opened } from "./load-opened.ts";

/** What the operator's webhook is told; undefined when it has passed. No values of fields are in it. */
export function noticeParcel(
  deps: Deps,
  job: Job,
  { notice, found, url }: { notice: HookNotice; found: Opened; url: string },
): Parcel | undefined {
  const { submission } = found;
  const about = aboutOf(notice, submission);
  if (about === undefined) return undefined;
  const { tenant, intakeId, submissionId } = submission;
  return {
    // The same for every attempt, another one after another submit.
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

function aboutOf({ type, gate }: HookNotice, submission: Submission): JsonObject | undefined {
  switch (type) {
    case "review.requested":
    case "review.escalated":
      return submission.state === "needs_review" && submission.review.gateIndex === gate
        ? { gate: submission.review.gate, requestedAt: toIso(submission.review.requestedAt) }
        : undefined;
    case "review.rejected": {
      const last = submission.rejections.at(-1);
      return submission.state === "rejected" && last ? { gate: last.gate, reasons: last.reasons } : undefined;
    }
    case "submission.finalized":
      return submission.state === "finalized" ? { finalizedAt: toIso(submission.finalizedAt) } : undefined;
    case "submission.ttl_warning":
      return isEditable(submission.state) ? { expiresAt: toIso(submission.expiresAt) } : undefined;
  }
}
