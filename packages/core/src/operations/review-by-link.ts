import type { ActorInput, ReviewRequest, ReviewResponse } from "@formbridge/contract";
import type { DecideContext } from "../domain/decide/decision.ts";
import { isDeliverable } from "../domain/decide/deliver.ts";
import { decideReview } from "../domain/decide/review.ts";
import { ContractError } from "../domain/error.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import { linkActor } from "../domain/notices/notice.ts";
import { spent } from "../domain/review/link-standing.ts";
import type { Submission } from "../domain/submission.ts";
import type { Caller } from "./caller.ts";
import { isSameActor, normalize } from "./support/actors.ts";
import { type Answer, answerWith, markOf } from "./support/answer.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { awaitFirstDelivery } from "./support/first-delivery.ts";
import { type OpenLink, openReviewLink } from "./support/review-link.ts";
import { waitOf } from "./support/write-spec.ts";

export interface ReviewByLinkCall {
  caller: Caller;
  secret: string;
  request: ReviewRequest;
  waitMs?: number;
}

const MAX_TRIES = 64;

/** Decides as the person that the link was mailed to, and spends the link with the decision: only both or neither. */
export async function reviewByLink(context: Context, call: ReviewByLinkCall): Promise<Answer<ReviewResponse>> {
  const { deps } = context;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await openReviewLink(context, call);
    const { link, submission, intake, now } = found;
    const actor = linkActor(link.email);
    refuseAnother(call.request.actor, actor);
    const { decision: verdict, reasons } = call.request;
    const command = { decision: verdict, roles: [], ...(reasons && { reasons }) };
    const decision = decideReview(submission, command, contextOf(context, found, actor));
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
    if (committed.kind !== "committed") continue;
    const settled = await afterDelivery(context, call, { after, now });
    const shown = { submission: settled, intake, now, policy: deps.settings.policy };
    const body: ReviewResponse = {
      ...markOf(shown),
      decision: verdict,
      reviewedAt: toIso(now),
      reviewedBy: actor,
      ...(reasons !== undefined && { reasons }),
      ...(settled.state === "finalized" && { finalizedAt: toIso(settled.finalizedAt) }),
    };
    return answerWith(body, shown);
  }
  throw new ContractError("service_unavailable", "The submission changes too fast.", { retryAfterMs: 100 });
}

/** The link says who decides; whoever says otherwise is told so. */
function refuseAnother(given: ActorInput | undefined, actor: ReturnType<typeof linkActor>): void {
  if (given === undefined || isSameActor(normalize(given), actor)) return;
  throw new ContractError("forbidden", "This link was sent to another.");
}

const contextOf = (
  { deps }: Context,
  { intake, now }: OpenLink,
  actor: ReturnType<typeof linkActor>,
): DecideContext => ({
  now,
  actor,
  provenHuman: true,
  intake,
  policy: deps.settings.policy,
  newId: (prefix) => deps.random.newId(prefix),
});

/** The last approval waits for the first delivery, as one by key does. */
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
