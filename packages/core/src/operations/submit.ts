import type { SubmitResponse } from "@formbridge/contract";
import { withCompletion } from "../domain/decide/complete-handoff.ts";
import { decideSubmit, type Submit } from "../domain/decide/submit.ts";
import { ContractError } from "../domain/error.ts";
import { sha256 } from "../domain/hashing.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import type { Context } from "./context.ts";
import { fieldsOf, markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import { type WriteCall, waitOf } from "./write/write-spec.ts";

export async function submit(context: Context, call: WriteCall): Promise<OperationResponse<SubmitResponse>> {
  const { idempotencyKey } = call;
  if (idempotencyKey === undefined) throw keyRequired();
  const waitMs = waitOf({ context, call });
  const commandOf = (now: Instant): Submit =>
    waitMs > 0 ? { answer: { key: sha256(idempotencyKey), by: now + waitMs } } : {};
  return await runWrite(context, call, {
    operation: "submit",
    actorRequired: true,
    keyed: {
      operation: "submit",
      meaning: ({ submission }, version) => ({ operation: "submit", submissionId: submission.submissionId, version }),
    },
    awaitsDelivery: true,
    decide: (submission, decideContext, { session }) =>
      withCompletion(
        decideSubmit(submission, commandOf(decideContext.now), decideContext),
        session?.session.actor.kind === "human" ? session.handoff.handoffId : undefined,
      ),
    body: (shown) => {
      const { submission } = shown;
      return {
        ...markOf(shown),
        fields: fieldsOf(shown),
        submittedAt: toIso(submission.submittedAt ?? shown.now),
        ...(submission.state === "finalized" && { finalizedAt: toIso(submission.finalizedAt) }),
      };
    },
  });
}

/** A malformed request, though of type `invalid`: the transport distinguishes it from a 422 by the missing field. */
const keyRequired = (): ContractError =>
  new ContractError("invalid", "submit needs an idempotency key.", {
    reason: "idempotency_key_required",
    fields: [{ path: "idempotencyKey", code: "required", message: "submit needs an idempotency key." }],
    nextActions: [
      {
        action: "collect_field",
        field: "idempotencyKey",
        hint: "Use the same key for every retry of the same submit.",
      },
    ],
  });
