import type { TokenAdminResponse } from "@formbridge/contract";
import { decideRevokeTokens } from "../domain/decide/tokens.ts";
import { ContractError } from "../domain/error.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { mayHoldToken } from "./support/resolve-target.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function revokeTokens(context: Context, call: WriteCall): Promise<Answer<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "revokeTokens",
    actorRequired: true,
    actsOnLocked: true,
    needsNoVersion: true,
    // Only a key revokes: a token that leaked must not be able to shut its owner out.
    authorize({ principal, submission }) {
      if (!mayHoldToken(principal, submission))
        throw new ContractError("forbidden", "Revoking needs the creator's key.");
    },
    decide: (submission, decideContext) => decideRevokeTokens(submission, decideContext),
    body: (shown) => markOf(shown),
  });
}
