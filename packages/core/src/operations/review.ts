import type { ReviewResponse } from "@formbridge/contract";
import { refuse } from "../domain/decide/decision.ts";
import { decideReview, type Verdict, verdictOf } from "../domain/decide/review.ts";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { requirePrincipal, requireRole } from "./identity/authenticate.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type ReviewCall = WriteCall & Verdict;

export async function review(context: Context, call: ReviewCall): Promise<OperationResponse<ReviewResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  const verdict = verdictOf(call);
  // A decision applies to what the reviewer saw: after a lost race it isn't applied to another submit.
  let seen: string | undefined;
  return await runWrite(context, call, {
    operation: "review",
    actorRequired: true,
    actsOnLocked: true,
    awaitsDelivery: true,
    needsNoVersion: true,
    authorize: () => requireRole(principal, "reviewer", "admin"),
    decide(submission, decideContext) {
      const submit = submission.delivery?.deliveryId;
      seen ??= submit;
      if (submit !== seen) return refuse(submittedAgain());
      return decideReview(submission, { ...verdict, roles: principal.roles }, decideContext);
    },
    body: (shown, actor) => ({
      ...markOf(shown),
      ...verdict,
      reviewedAt: toIso(shown.now),
      reviewedBy: actor,
      ...(shown.submission.state === "finalized" && { finalizedAt: toIso(shown.submission.finalizedAt) }),
    }),
  });
}

const submittedAgain = (): ContractError =>
  new ContractError("conflict", "The submission was changed and submitted again. Look at it before you decide.");
