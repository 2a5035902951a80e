import type { ValidateResponse } from "@formbridge/contract";
import { decideValidate, pendingUploads } from "../domain/decide/validate.ts";
import { type Answer, findingsOf, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function validate(context: Context, call: WriteCall): Promise<Answer<ValidateResponse>> {
  return await runWrite(context, call, {
    operation: "validate",
    actorRequired: false,
    decide: (submission, decideContext) => decideValidate(submission, decideContext),
    body(shown) {
      const findings = findingsOf(shown);
      const ready = findings.validationErrors.length === 0 && pendingUploads(shown.submission, shown.now).length === 0;
      return { ...markOf(shown), ready, ...findings };
    },
  });
}
