import type { SubmissionRecord } from "@formbridge/contract";
import { gateOf, isEscalated, reviewsGate } from "../domain/review/reviewers.ts";
import type { Context } from "./context.ts";
import { fileLinks } from "./files/file-links.ts";
import { recordOf } from "./read/record.ts";
import { type OperationResponse, respondWith, show } from "./read/response.ts";
import { type Readable, type ReadCall, runRead } from "./read/run-read.ts";

/** A state that a reader has seen, by token, version or both. */
export interface KnownState {
  token?: string;
  version?: number;
}

export interface GetSubmissionCall extends ReadCall {
  /**
   * The states that the reader has, or any: if one is current and nothing was committed since, there is nothing to
   * send.
   */
  unlessChangedSince?: "*" | readonly KnownState[];
}

export interface SubmissionRead extends OperationResponse<SubmissionRecord> {
  notModified?: true;
}

export async function getSubmission(context: Context, call: GetSubmissionCall): Promise<SubmissionRead> {
  return await runRead(context, call, {
    operation: "getSubmission",
    async use(found) {
      const shown = show(context.deps, found, found.held);
      const files = isReviewer(found) ? await fileLinks(context.deps, shown, found.sight) : {};
      const answer = respondWith({ ...recordOf(shown, found.sight), ...files }, shown);
      // Download links expire even if nothing changes.
      if (files.files !== undefined) return answer;
      return isKnown(found, call.unlessChangedSince ?? []) ? { ...answer, notModified: true } : answer;
    },
  });
}

/** Whether the submission waits for this reader's decision. */
function isReviewer({ submission, intake, principal }: Readable): boolean {
  if (principal === undefined || submission.state !== "needs_review") return false;
  const gate = gateOf(submission, intake.definition.approvalGates);
  return reviewsGate(gate, principal, { escalated: isEscalated(submission, submission.review.gateIndex) });
}

/** Every part that a state names must be current. */
function isKnown({ submission, held }: Readable, states: "*" | readonly KnownState[]): boolean {
  if (states === "*") return true;
  const isCurrent = ({ token = held.token, version = submission.version }: KnownState): boolean =>
    token === held.token && version === submission.version;
  return submission.heads.submission.seq === submission.token.seq && states.some(isCurrent);
}
