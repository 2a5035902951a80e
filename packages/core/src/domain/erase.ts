import type { Instant } from "./instant.ts";
import type { Submission } from "./submission.ts";
import { nobody } from "./traces.ts";

/**
 * What is kept of an ended submission: its ids, state, times and the heads of its history. Lists what stays, so that
 * anything added to submissions later is erased by default.
 */
export function erase(submission: Submission, now: Instant): Submission {
  const { submittedAt } = submission;
  const rest = {
    tenant: submission.tenant,
    submissionId: submission.submissionId,
    intakeId: submission.intakeId,
    intakeVersion: submission.intakeVersion,
    definition: submission.definition,
    version: submission.version,
    revision: submission.revision,
    epoch: submission.epoch,
    epochSince: submission.epochSince,
    tokensRevoked: true,
    fields: {},
    sizeBound: 2,
    attribution: { paths: {}, removed: {}, writes: {} },
    missingCount: 0,
    createdAt: submission.createdAt,
    updatedAt: submission.updatedAt,
    createdBy: nobody(submission.createdBy),
    lastUpdatedBy: nobody(submission.lastUpdatedBy),
    ttlMs: submission.ttlMs,
    expiresAt: submission.expiresAt,
    replayCount: submission.replayCount,
    uploads: [],
    rejections: [],
    heads: submission.heads,
    token: submission.token,
    erasedAt: now,
  };
  switch (submission.state) {
    case "finalized":
      return { ...rest, state: "finalized", submittedAt: submission.submittedAt, finalizedAt: submission.finalizedAt };
    case "cancelled": {
      const { cancelledAt, cancelledBy } = submission;
      const cancelled = { state: "cancelled" as const, cancelledAt, cancelledBy: nobody(cancelledBy) };
      return { ...rest, ...cancelled, ...(submittedAt !== undefined && { submittedAt }) };
    }
    case "expired":
      return {
        ...rest,
        state: "expired",
        expiredAt: submission.expiredAt,
        ...(submittedAt !== undefined && { submittedAt }),
      };
    default:
      throw new Error(`a submission that is ${submission.state} would be erased`);
  }
}
