import type { ActorInput, ReviewRequest, ReviewResponse } from "@formbridge/contract";
import { isDeliverable } from "../domain/decide/deliver.ts";
import { decideReview, verdictOf } from "../domain/decide/review.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import { linkActor } from "../domain/notices/notice.ts";
import { spent } from "../domain/review/link-standing.ts";
import type { Submission } from "../domain/submission.ts";
import type { Caller } from "./caller.ts";
import type { Context } from "./context.ts";
import { awaitFirstDelivery } from "./delivery/first-delivery.ts";
import { isSameActor, normalize, notYou } from "./identity/actors.ts";
import { type OpenLink, withReviewLink } from "./links/review-link.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { commitDecision } from "./write/commit.ts";
import { decideContextOf } from "./write/decide-context.ts";
import { tooFast } from "./write/refusals.ts";
import { waitOf } from "./write/write-spec.ts";

export interface ReviewByLinkCall {
  caller: Caller;
  secret: string;
  request: ReviewRequest;
  waitMs?: number;
}

const MAX_TRIES = 64;

/** Decides as the person the link was mailed to, and uses the link up in the same commit. */
export async function reviewByLink(
  context: Context,
  call: ReviewByLinkCall,
): Promise<OperationResponse<ReviewResponse>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const answer = await withReviewLink(context, call, (found) => decide(context, call, found));
    if (answer !== undefined) return answer;
  }
  return await withReviewLink(context, call, () => {
    throw tooFast();
  });
}

/** Undefined if the submission changed meanwhile: load again. */
async function decide(
  context: Context,
  call: ReviewByLinkCall,
  found: OpenLink,
): Promise<OperationResponse<ReviewResponse> | undefined> {
  const { deps } = context;
  const { link, submission, intake, now } = found;
  const actor = linkActor(link.email);
  refuseAnother(call.request.actor, actor);
  const verdict = verdictOf(call.request);
  const decision = decideReview(submission, { ...verdict, roles: [] }, decideContextOf(deps, { now, actor, intake }));
  if (decision.refusal !== undefined) throw decision.refusal;
  const side = [...(decision.side ?? []), { kind: "review_link" as const, link: spent(link, now) }];
  const { committed, after } = await commitDecision(deps, {
    operation: "review",
    before: submission,
    decision: { ...decision, side },
    actor,
    now,
    intake,
  });
  if (committed.kind !== "committed") return undefined;
  const settled = await afterDelivery(context, call, { after, now });
  const shown = show(deps, { submission: settled, intake, now });
  const body: ReviewResponse = {
    ...markOf(shown),
    ...verdict,
    reviewedAt: toIso(now),
    reviewedBy: actor,
    ...(settled.state === "finalized" && { finalizedAt: toIso(settled.finalizedAt) }),
  };
  return respondWith(body, shown);
}

/** The link determines who decides; a call that names someone else is refused. */
function refuseAnother(given: ActorInput | undefined, actor: ReturnType<typeof linkActor>): void {
  if (given === undefined || isSameActor(normalize(given), actor)) return;
  throw notYou("This link was sent to somebody else.");
}

/** The last approval waits for the first delivery, as with an API key. */
async function afterDelivery(
  context: Context,
  call: ReviewByLinkCall,
  { after, now }: { after: Submission; now: Instant },
): Promise<Submission> {
  const wait = waitOf({ context, call });
  if (!isDeliverable(after) || wait <= 0) return after;
  const then = await awaitFirstDelivery(context, { submission: after, now, until: now + wait });
  return then?.submission ?? after;
}
