import type { ValidateResponse } from "@formbridge/contract";
import { decideValidate, problemsOf } from "../domain/decide/validate.ts";
import type { Context } from "./context.ts";
import { requireWriter } from "./identity/access.ts";
import { pendingOf } from "./read/record.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

/** Changes no values, so an API key that may hold the token needs neither token nor version. */
export async function validate(context: Context, call: WriteCall): Promise<OperationResponse<ValidateResponse>> {
  return await runWrite(context, call, {
    operation: "validate",
    actorRequired: false,
    needsNoVersion: true,
    authorize: requireWriter,
    decide: decideValidate,
    body(shown) {
      const { missing, errors } = problemsOf(shown.submission, shown);
      const found = { ready: errors.length === 0, missingFields: missing, validationErrors: errors };
      return { ...markOf(shown), ...found, ...pendingOf(shown, "masked") };
    },
  });
}
