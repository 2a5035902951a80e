import type { SubmitResponse } from "@formbridge/contract";
import { decideSubmit, type Submit } from "../domain/decide/submit.ts";
import { ContractError } from "../domain/error.ts";
import { sha256 } from "../domain/hashing.ts";
import { type Instant, toIso } from "../domain/instant.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import { type WriteCall, waitOf } from "./support/write-spec.ts";

export async function submit(context: Context, call: WriteCall): Promise<Answer<SubmitResponse>> {
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
    decide: (submission, decideContext) => decideSubmit(submission, commandOf(decideContext.now), decideContext),
    body: (shown) => {
      const { submission } = shown;
      return {
        ...markOf(shown),
        fields: submission.fields,
        submittedAt: toIso(submission.submittedAt ?? shown.now),
        ...(submission.state === "finalized" && { finalizedAt: toIso(submission.finalizedAt) }),
      };
    },
  });
}

/** A malformed request, though of type `invalid`: the transport tells it from a 422 by the missing field. */
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
