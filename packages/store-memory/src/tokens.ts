import { endedAt, type TokenCriteria, type TokenIndex, type TokenRow } from "@formbridge/core";
import { health } from "./health.ts";
import { answer, type Tables } from "./tables.ts";

export function createTokenIndex(tables: Tables): TokenIndex {
  const matching = (criteria: TokenCriteria) => [...tables.tokens.values()].filter((token) => matches(token, criteria));
  const hasEnded = ({ submissionId }: TokenRow): boolean => {
    const stored = tables.submissions.get(submissionId);
    return stored === undefined || endedAt(stored.row.submission) !== undefined;
  };
  return {
    find: (hash) => answer(tables, () => tables.tokens.get(hash)),
    query: (criteria, { limit, offset = 0 }) =>
      answer(tables, () =>
        matching(criteria)
          .sort((a, b) => b.issuedAt - a.issuedAt || b.version - a.version)
          .slice(offset, offset + limit),
      ),
    count: (criteria) => answer(tables, () => matching(criteria).length),
    forgetExpired: (before, limit) =>
      answer(tables, () => {
        const old = matching({ expiresBefore: before })
          .filter((token) => token.rotatedAt !== undefined || hasEnded(token))
          .slice(0, limit);
        for (const { hash } of old) tables.tokens.delete(hash);
        return old.length;
      }),
    health: () => health(tables),
  };
}

function matches(token: TokenRow, criteria: TokenCriteria): boolean {
  const { tenant, submissionId, intakeId, status, expiresBefore, expiresAfter } = criteria;
  return (
    (tenant === undefined || token.tenant === tenant) &&
    (submissionId === undefined || token.submissionId === submissionId) &&
    (intakeId === undefined || token.intakeId === intakeId) &&
    (status === undefined || (token.rotatedAt === undefined) === (status === "current")) &&
    (expiresBefore === undefined || token.expiresAt < expiresBefore) &&
    (expiresAfter === undefined || token.expiresAt > expiresAfter)
  );
}
