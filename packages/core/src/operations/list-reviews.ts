import type { ListReviewsQuery, ListReviewsResponse, ReviewItem } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import { barredFrom, gateOf, isEscalated, namesOf } from "../domain/review/reviewers.ts";
import type { Submission } from "../domain/submission.ts";
import type { SubmissionFilter } from "../ports/submissions.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { intakesFor, requirePrincipal } from "./identity/authenticate.ts";
import { fillPage } from "./read/fill-page.ts";
import { endPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "reviews";

/** What waits for this reviewer, oldest first. */
export async function listReviews(
  context: Context,
  call: { caller: Caller; query: ListReviewsQuery },
): Promise<OperationResponse<ListReviewsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "reviewer", "admin");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const filter = filterFor(principal, page.query.intakeId);
  const { items, next } = await fillPage(page, {
    read: (after = "", limit) => deps.backend.submissions.list(filter, { limit, after }),
    idOf: ({ submission }) => submission.submissionId,
    // Submissions that wait for other reviewers are skipped.
    itemOf: async ({ submission }) =>
      itemFor(principal, submission, await context.catalog.byDigest(submission.definition)),
  });
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: next, shown: items.length })) } };
}

function filterFor(principal: Principal, intakeId: string | undefined): SubmissionFilter {
  const intakeIds = intakesFor(principal, intakeId);
  return { tenant: principal.tenant, states: ["needs_review"], ...(intakeIds && { intakeIds }) };
}

/** Undefined if this reviewer has nothing to decide here, or has already decided. */
function itemFor(principal: Principal, submission: Submission, intake: CompiledIntake): ReviewItem | undefined {
  if (submission.state !== "needs_review") return undefined;
  const { gateIndex, requestedAt, approvals } = submission.review;
  const gate = gateOf(submission, intake.definition.approvalGates);
  if (barredFrom(submission, gate, principal) !== undefined) return undefined;
  return {
    submissionId: submission.submissionId,
    intakeId: submission.intakeId,
    intakeName: intake.definition.name,
    version: submission.version,
    ...namesOf(gate),
    requestedAt: toIso(requestedAt),
    ...(isEscalated(submission, gateIndex) && { escalated: true as const }),
    approvals: approvals.length,
    requiredApprovals: gate.requiredApprovals ?? 1,
    createdAt: toIso(submission.createdAt),
    createdBy: submission.createdBy,
    ...(submission.submittedBy && { submittedBy: submission.submittedBy }),
  };
}
