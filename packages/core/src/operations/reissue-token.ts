import type { TokenAdminResponse } from "@formbridge/contract";
import { decideReissueToken } from "../domain/decide/tokens.ts";
import { ContractError } from "../domain/error.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { mayHoldToken } from "./support/resolve-target.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function reissueToken(context: Context, call: WriteCall): Promise<Answer<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "reissueToken",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    // Whoever may see the token may have a new one: its bearer, and a key that may hold it.
    authorize({ token, principal, submission }) {
      if (token === undefined && !mayHoldToken(principal, submission)) {
        throw new ContractError("forbidden", "This caller may not hold the token.");
      }
    },
    decide: (submission, decideContext) => decideReissueToken(submission, decideContext),
    body: (shown) => markOf(shown),
  });
}
