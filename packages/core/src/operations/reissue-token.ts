import type { TokenAdminResponse } from "@formbridge/contract";
import { decideReissueToken } from "../domain/decide/tokens.ts";
import { keyDecides } from "./revoke-tokens.ts";
import { type Answer, markOf } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { runWrite } from "./support/run-write.ts";
import type { WriteCall } from "./support/write-spec.ts";

export async function reissueToken(context: Context, call: WriteCall): Promise<Answer<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "reissueToken",
    actorRequired: true,
    guardsItself: true,
    byKeyAlone: keyDecides,
    decide: (submission, decideContext) => decideReissueToken(submission, decideContext),
    body: (shown) => markOf(shown),
  });
}
