import type { RevokeHandoffRequest, RevokeHandoffResponse } from "@formbridge/contract";
import { decideRevokeHandoff } from "../domain/decide/revoke-handoff.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import { handoffsIn } from "../domain/side-row.ts";
import type { Context } from "./context.ts";
import { requireHolder } from "./identity/access.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export type RevokeHandoffCall = WriteCall & Pick<RevokeHandoffRequest, "reason"> & { handoffId: string };

export async function revokeHandoff(
  context: Context,
  call: RevokeHandoffCall,
): Promise<OperationResponse<RevokeHandoffResponse>> {
  const { handoffId, reason } = call;
  let revokedAt: Instant = 0;
  return await runWrite(context, call, {
    operation: "revokeHandoff",
    actorRequired: false,
    actsOnLocked: true,
    // With an API key no version is needed: a leaked link must be revocable whatever happened meanwhile.
    needsNoVersion: true,
    authorize: requireHolder,
    async decide(submission, decideContext) {
      const others = await context.deps.backend.handoffs.ofSubmission(submission.submissionId);
      const command = { handoffId, ...(reason !== undefined && { reason }) };
      const decision = decideRevokeHandoff(submission, command, { ...decideContext, others });
      revokedAt = handoffsIn(decision.side)[0]?.revokedAt ?? decideContext.now;
      return decision;
    },
    body: (shown) => ({ ...markOf(shown), handoffId, revoked: true, revokedAt: toIso(revokedAt) }),
  });
}
