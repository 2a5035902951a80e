import type { TokenAdminResponse } from "@formbridge/contract";
import { decideRevokeTokens } from "../domain/decide/tokens.ts";
import { ContractError } from "../domain/error.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { mayHoldToken } from "./support/resolve-target.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall, WriteSpec } from "./support/write-spec.ts";

/** Only a key decides about tokens: a token that leaked must not be able to. */
export const keyDecides: NonNullable<WriteSpec<object>["byKeyAlone"]> = ({ principal, submission }) => {
  if (!mayHoldToken(principal, submission)) throw new ContractError("forbidden", "This key may not decide about tokens.");
};

export async function revokeTokens(context: Context, call: WriteCall): Promise<Answer<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "revokeTokens",
    actorRequired: true,
    guardsItself: true,
    byKeyAlone: keyDecides,
    decide: (submission, decideContext) => decideRevokeTokens(submission, decideContext),
    body: (shown) => markOf(shown),
  });
}
