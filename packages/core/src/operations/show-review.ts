import type { ShowReviewResponse } from "@formbridge/contract";
import { toIso } from "../domain/instant.ts";
import { linkActor } from "../domain/notices/notice.ts";
import { type Bar, barOf, gateOf, namesOf } from "../domain/review/reviewers.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { fileLinks } from "./files/file-links.ts";
import { type OpenLink, withReviewLink } from "./links/review-link.ts";
import { presentationOf } from "./read/intake-view.ts";
import { recordOf } from "./read/record.ts";
import { type OperationResponse, respondWith, show } from "./read/response.ts";

/** What a review link is about. Viewing doesn't use it up. */
export async function showReview(
  context: Context,
  call: { caller: Caller; secret: string },
): Promise<OperationResponse<ShowReviewResponse>> {
  return await withReviewLink(context, call, (found) => showOpen(context, found));
}

async function showOpen(context: Context, found: OpenLink): Promise<OperationResponse<ShowReviewResponse>> {
  const shown = show(context.deps, found);
  const sight = "all";
  const body = {
    ...recordOf(shown, sight),
    ...(await fileLinks(context.deps, shown, sight)),
    intake: presentationOf(found.intake.definition),
    review: reviewOf(found),
  };
  return respondWith(body, shown);
}

type Barred = NonNullable<ShowReviewResponse["review"]["barred"]>;

/** A person with a link is identified, so only these reasons can apply. */
const isTold = (bar: Bar | undefined): bar is Barred =>
  bar === "own_submission" || bar === "already_approved" || bar === "not_a_reviewer";

function reviewOf({ link, submission, intake }: OpenLink): ShowReviewResponse["review"] {
  const gate = gateOf(submission, intake.definition.approvalGates);
  const bar = barOf(submission, gate, { actor: linkActor(link.email), roles: [] });
  return {
    ...namesOf(gate),
    intake: intake.definition.name,
    reviewer: link.email,
    decisions: bar === undefined ? ["approved", "rejected"] : [],
    ...(isTold(bar) && { barred: bar }),
    expiresAt: toIso(link.expiresAt),
  };
}
