import type { ReviewRequest, ReviewResponse } from "@formbridge/contract";
import { refuse } from "../domain/decide/decision.ts";
import { decideReview } from "../domain/decide/review.ts";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import { type Answer, markOf } from "./support/answer.ts";
import { requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export type ReviewCall = WriteCall & Pick<ReviewRequest, "decision" | "reasons">;

export async function review(context: Context, call: ReviewCall): Promise<Answer<ReviewResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  const { decision, reasons } = call;
  // A decision counts for what its reviewer saw: when it loses a race, it is not carried over to another submit.
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
      return decideReview(submission, { decision, roles: principal.roles, ...(reasons && { reasons }) }, decideContext);
    },
    body: (shown, actor) => ({
      ...markOf(shown),
      decision,
      reviewedAt: toIso(shown.now),
      reviewedBy: actor,
      ...(reasons !== undefined && { reasons }),
      ...(shown.submission.state === "finalized" && { finalizedAt: toIso(shown.submission.finalizedAt) }),
    }),
  });
}

const submittedAgain = (): ContractError =>
  new ContractError("conflict", "The submission was changed and submitted again; look at it before you decide.");
