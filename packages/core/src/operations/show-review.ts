import type { ShowReviewResponse } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import { gateOf } from "../domain/review/link-standing.ts";
import type { Caller } from "./caller.ts";
import { type Answer, answerWith, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { recordOf } from "./support/record.ts";
import { openReviewLink } from "./support/review-link.ts";

/** What a review link is about. Looking spends nothing, however often. */
export async function showReview(
  context: Context,
  call: { caller: Caller; secret: string },
): Promise<Answer<ShowReviewResponse>> {
  const { link, submission, intake, now } = await openReviewLink(context, call);
  const shown: Shown = { submission, intake, now, policy: context.deps.settings.policy };
  const gate = gateOf(submission, intake.definition.approvalGates);
  const review = {
    gate: gate.name,
    intake: intake.definition.name,
    reviewer: link.email,
    decisions: ["approved" as const, "rejected" as const],
    expiresAt: toIso(link.expiresAt),
  };
  return answerWith({ ...recordOf(shown, "masked"), review }, shown);
}
