import type { Instant } from "../domain/instant.ts";
import { type TokenStatus, tokenStatusOf } from "../domain/tokens/token-status.ts";
import { shortHash } from "../ports/tracing.ts";
import type { Context } from "./context.ts";

/** What an operator may see of a token. */
export interface TokenView {
  /** The beginning of the token's hash, as in the log. */
  hashPrefix: string;
  version: number;
  status: TokenStatus;
  issuedAt: Instant;
  expiresAt: Instant;
  /** When the next version's token replaced it. */
  rotatedAt?: Instant;
}

/**
 * A submission's tokens, newest first, each with its status by the store's clock. Undefined if there is no such
 * submission. For the operator's own commands, which need no API key.
 */
export async function listTokens(
  { deps }: Context,
  where: { tenant: string; submissionId: string },
  page: { limit: number; offset: number },
): Promise<TokenView[] | undefined> {
  const { tenant, submissionId } = where;
  const rows = await deps.backend.tokens.query({ tenant, submissionId }, page);
  const { now, submission: snapshot } = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  if (snapshot === undefined) return undefined;
  const clock = { now, policy: deps.settings.policy };
  return rows.map((row) => ({
    hashPrefix: shortHash(row.hash),
    version: row.version,
    status: tokenStatusOf(row, snapshot.submission, clock),
    issuedAt: row.issuedAt,
    expiresAt: row.expiresAt,
    ...(row.rotatedAt !== undefined && { rotatedAt: row.rotatedAt }),
  }));
}
