import { isIP } from "node:net";
import type { Handoff } from "../../domain/handoffs/handoff.ts";
import type { CallTrace } from "../../domain/plan-change.ts";
import type { TokenRow } from "../../domain/tokens/token-row.ts";
import type { Caller } from "../caller.ts";
import type { Context } from "../context.ts";

const MAX_USER_AGENT = 256;

/**
 * What the token stream records about a call: the credential, the client's address, and how long it has taken so far.
 */
export function traceOf(
  context: Pick<Context, "startedAt">,
  caller: Caller,
  {
    token,
    session,
  }: { token?: { row: Pick<TokenRow, "hash"> }; session?: { handoff: Pick<Handoff, "handoffId"> } } = {},
): CallTrace {
  const { address, userAgent } = caller;
  return {
    ...(token && { tokenHash: token.row.hash }),
    ...(session && { handoffId: session.handoff.handoffId }),
    // Over stdio there is no network address.
    ...(isIP(address) !== 0 && { ipAddress: address }),
    ...(userAgent !== undefined && { userAgent: plain(userAgent) }),
    responseTimeMs: Math.max(0, Math.round(performance.now() - context.startedAt)),
  };
}

/** Not every store can hold every character. */
const plain = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, " ")
    .slice(0, MAX_USER_AGENT)
    .toWellFormed();
