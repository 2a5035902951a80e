import type { SubmitResponse } from "@formbridge/contract";
import { decideSubmit } from "../domain/decide/submit.ts";
import { ContractError } from "../domain/error.ts";
import { toIso } from "../domain/instant.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function submit(context: Context, call: WriteCall): Promise<Answer<SubmitResponse>> {
  if (call.idempotencyKey === undefined) throw keyRequired();
  return await runWrite(context, call, {
    operation: "submit",
    actorRequired: true,
    keyed: {
      operation: "submit",
      meaning: ({ submission }, version) => ({ operation: "submit", submissionId: submission.submissionId, version }),
    },
    decide: (submission, decideContext) => decideSubmit(submission, decideContext),
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
