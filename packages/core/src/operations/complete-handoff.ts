import type { CompleteHandoffResponse } from "@formbridge/contract";
import { decideCompleteHandoff, isOwnDirectLink, notYourHandoff } from "../domain/decide/complete-handoff.ts";
import { refuse } from "../domain/decide/decision.ts";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { findingsOf, markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

/** `handoffId` defaults to the session's own. */
export type CompleteHandoffCall = WriteCall & { handoffId?: string };

export async function completeHandoff(
  context: Context,
  call: CompleteHandoffCall,
): Promise<OperationResponse<CompleteHandoffResponse>> {
  let handoffId = call.handoffId ?? "";
  return await runWrite(context, asHuman(call), {
    operation: "completeHandoff",
    actorRequired: false,
    needsNoVersion: true,
    needsNoBasis: true,
    authorize({ session, token }) {
      if (session === undefined && token !== undefined) return;
      const own = session?.handoff.handoffId;
      if (own === undefined || own !== (call.handoffId ?? own)) throw notYourHandoff();
      handoffId = own;
    },
    async decide(submission, decideContext, { session }) {
      if (session === undefined) {
        const handoffs = await context.deps.backend.handoffs.ofSubmission(submission.submissionId);
        const handoff = handoffs.find((known) => known.handoffId === handoffId);
        if (!isOwnDirectLink(handoff, submission, decideContext.actor)) return refuse(notYourHandoff());
      }
      return decideCompleteHandoff(submission, handoffId, decideContext);
    },
    body: (shown) => ({
      ...markOf(shown),
      handoffId,
      completedAt: toIso(shown.submission.completedHandoff?.at ?? shown.now),
      missingFields: findingsOf(shown).missingFields,
    }),
  });
}

/** A person who opened a direct link and gives no name acts under the hand-off's, as in a session. */
function asHuman(call: CompleteHandoffCall): CompleteHandoffCall {
  const { actor, handoffId, caller, target } = call;
  const isNameless = actor === undefined && caller.session === undefined && caller.apiKey === undefined;
  if (!isNameless || handoffId === undefined || target.tokens.length === 0) return call;
  return { ...call, actor: { kind: "human", id: handoffId } };
}
