import type { ActorInput, ReviewRequest, ReviewResponse } from "@formbridge/contract";
import { decideReview } from "../domain/decide/review.ts";
import { toIso } from "../domain/instant.ts";
import type { Caller } from "./caller.ts";
import { type Answer, markOf } from "./support/answer.ts";
import { requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";

export interface ReviewCall extends Pick<ReviewRequest, "decision" | "reasons"> {
  caller: Caller;
  submissionId: string;
  actor?: ActorInput;
}

export async function review(context: Context, call: ReviewCall): Promise<Answer<ReviewResponse>> {
  const principal = await requirePrincipal(context.deps, call.caller);
  const { decision, reasons, submissionId } = call;
  return await runWrite(
    context,
    { ...call, target: { submissionId, tokens: [], versions: [] } },
    {
      operation: "review",
      actorRequired: true,
      guardsItself: true,
      needsNoVersion: true,
      authorize: () => requireRole(principal, "reviewer", "admin"),
      decide: (submission, decideContext) =>
        decideReview(submission, { decision, roles: principal.roles, ...(reasons && { reasons }) }, decideContext),
      body: (shown, actor) => ({
        ...markOf(shown),
        decision,
        reviewedAt: toIso(shown.now),
        reviewedBy: actor,
        ...(reasons !== undefined && { reasons }),
        ...(shown.submission.state === "finalized" && { finalizedAt: toIso(shown.submission.finalizedAt) }),
      }),
    },
  );
}
