import type { ReassignReviewRequest, ReassignReviewResponse } from "@formbridge/contract";
import { decideReassignReview } from "../domain/decide/reassign-review.ts";
import { gateAt } from "../domain/review/reviewers.ts";
import type { Context } from "./context.ts";
import { refuseAgentsAlone } from "./identity/agent-gates.ts";
import { requirePrincipal, requireRole } from "./identity/authenticate.ts";
import { reviewOf } from "./read/record.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type ReassignReviewCall = WriteCall & Pick<ReassignReviewRequest, "reviewers" | "reason">;

/** What a reassignment replaces; whether agents may decide, and the escalation, stay as in the gate. */
const ONLY = { ids: [], roles: [], emails: [] };

export async function reassignReview(
  context: Context,
  call: ReassignReviewCall,
): Promise<OperationResponse<ReassignReviewResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  const { reviewers, reason } = call;
  return await runWrite(context, call, {
    operation: "reassignReview",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    authorize: () => requireRole(principal, "admin"),
    async decide(submission, decideContext) {
      const decision = decideReassignReview(submission, { reviewers, reason }, decideContext);
      if (decision.refusal === undefined) {
        const kept = gateAt(
          submission,
          decideContext.intake.definition.approvalGates,
          submission.review?.gateIndex ?? 0,
        );
        const named = [{ path: "reviewers.ids", reviewers: { ...kept?.reviewers, ...ONLY, ...reviewers } }];
        await refuseAgentsAlone(context.deps, { tenant: principal.tenant, named, wayOut: "name a human" });
      }
      return decision;
    },
    body(shown) {
      const { reviewState } = reviewOf(shown.submission, shown.intake);
      if (reviewState === undefined) throw new Error("a review was reassigned although none had been requested");
      return { ...markOf(shown), reviewState };
    },
  });
}
