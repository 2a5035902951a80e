import type { TokenAdminResponse } from "@formbridge/contract";
import { decideRevokeTokens } from "../domain/decide/tokens.ts";
import type { Context } from "./context.ts";
import { requireTokenKey } from "./identity/access.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

export async function revokeTokens(context: Context, call: WriteCall): Promise<OperationResponse<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "revokeTokens",
    // Without an API key the call is refused for that, not for a missing actor.
    actorRequired: false,
    actsOnLocked: true,
    needsNoVersion: true,
    authorize: requireTokenKey,
    decide: decideRevokeTokens,
    body: markOf,
  });
}
