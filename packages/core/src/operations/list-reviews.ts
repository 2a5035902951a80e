import type { ListReviewsQuery, ListReviewsResponse, ReviewItem } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import { barredFrom, isEscalated } from "../domain/review/reviewers.ts";
import type { Submission } from "../domain/submission.ts";
import type { SubmissionFilter } from "../ports/submissions.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Answer } from "./support/answer.ts";
import { reachesIntake, requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { DEFAULT_PAGE, nextPage, openPage } from "./support/paging.ts";

const LIST = "reviews";
/** What waits for others is looked over here: a page may take several looks, and comes short, or empty, when these were not enough. */
const MAX_LOOKS = 5;

/** What waits for this reviewer now, oldest first. */
export async function listReviews(
  context: Context,
  call: { caller: Caller; query: ListReviewsQuery },
): Promise<Answer<ListReviewsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller);
  requireRole(principal, "reviewer", "admin");
  const { limit: size, ...given } = call.query;
  const { query, after } = await openPage(deps, LIST, { ...given, ...(size !== undefined && { limit: String(size) }) });
  const limit = Number(query.limit ?? DEFAULT_PAGE);
  const filter = filterFor(principal, query.intakeId);
  const items: ReviewItem[] = [];
  let last = after ?? "";
  for (let looks = 1; ; looks++) {
    const rows = await deps.backend.submissions.list(filter, { limit: limit + 1, after: last });
    for (const { submission } of rows) {
      const item = itemFor(principal, submission, await context.catalog.byDigest(submission.definition));
      if (item !== undefined && items.length === limit) {
        return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: last })) } };
      }
      last = submission.submissionId;
      if (item !== undefined) items.push(item);
    }
    if (rows.length <= limit) return { body: { ok: true, items } };
    if (looks >= MAX_LOOKS)
      return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: last })) } };
  }
}

function filterFor(principal: Principal, intakeId: string | undefined): SubmissionFilter {
  const intakeIds =
    intakeId === undefined ? principal.intakes : [intakeId].filter((id) => reachesIntake(principal, id));
  return { tenant: principal.tenant, states: ["needs_review"], ...(intakeIds && { intakeIds }) };
}

/** Undefined: this reviewer has nothing to decide here, or has done so. */
function itemFor(principal: Principal, submission: Submission, intake: CompiledIntake): ReviewItem | undefined {
  if (submission.state !== "needs_review") return undefined;
  const { gateIndex, requestedAt, approvals } = submission.review;
  const gate = intake.definition.approvalGates?.[gateIndex];
  if (gate === undefined || barredFrom(submission, gate, principal) !== undefined) return undefined;
  return {
    submissionId: submission.submissionId,
    intakeId: submission.intakeId,
    version: submission.version,
    gate: gate.name,
    requestedAt: toIso(requestedAt),
    ...(isEscalated(submission, gateIndex) && { escalated: true as const }),
    approvals: approvals.length,
    requiredApprovals: gate.requiredApprovals ?? 1,
    createdAt: toIso(submission.createdAt),
    createdBy: submission.createdBy,
    ...(submission.submittedBy && { submittedBy: submission.submittedBy }),
  };
}
