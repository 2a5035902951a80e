import type { TokenAdminResponse } from "@formbridge/contract";
import { decideRenewToken } from "../domain/decide/tokens.ts";
import type { Context } from "./context.ts";
import { requireTokenKey } from "./identity/access.ts";
import { markOf, type OperationResponse } from "./read/response.ts";
import { runWrite } from "./write/run-write.ts";
import type { WriteCall } from "./write/write-spec.ts";

/**
 * Replaces a lapsed token, for a binding whose callers can't request it themselves. A `conflict` if it is still valid.
 */
export async function renewToken(context: Context, call: WriteCall): Promise<OperationResponse<TokenAdminResponse>> {
  return await runWrite(context, call, {
    operation: "renewToken",
    actorRequired: false,
    needsNoVersion: true,
    authorize: requireTokenKey,
    decide: decideRenewToken,
    body: markOf,
  });
}
