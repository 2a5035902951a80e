import type { CancelRequest, CancelResponse } from "@formbridge/contract";
import { decideCancel, refuseEndedCancel } from "../domain/decide/cancel.ts";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { mayHoldToken } from "./identity/access.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type CancelCall = WriteCall & Pick<CancelRequest, "reason">;

export async function cancel(context: Context, call: CancelCall): Promise<OperationResponse<CancelResponse>> {
  const { reason } = call;
  return await runWrite(context, call, {
    operation: "cancel",
    actorRequired: false,
    actsOnLocked: true,
    refuseEnded: refuseEndedCancel,
    needsNoVersion: true,
    authorize({ token, session, principal, submission }) {
      if (token === undefined && session === undefined && !mayHoldToken(principal, submission))
        throw new ContractError("forbidden", "This key may not cancel the submission.");
    },
    decide: (submission, decideContext) =>
      decideCancel(submission, { ...(reason !== undefined && { reason }) }, decideContext),
    body: (shown, actor) => ({
      ...markOf(shown),
      cancelledAt: toIso(shown.now),
      cancelledBy: actor,
      ...(reason !== undefined && { reason }),
    }),
  });
}
