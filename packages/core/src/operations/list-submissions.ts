import type { ListSubmissionsQuery, ListSubmissionsResponse, SubmissionState } from "@formbridge/contract";
import { readAt } from "../domain/decide/expire.ts";
import { ContractError } from "../domain/error.ts";
import { pastBefore } from "../domain/policy.ts";
import type { SubmissionFilter } from "../ports/submissions.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { maySee } from "./identity/access.ts";
import { hasRole, intakesFor, requirePrincipal } from "./identity/authenticate.ts";
import { fillPage } from "./read/fill-page.ts";
import { openRow } from "./read/open-snapshot.ts";
import { endPage, openPage } from "./read/paging.ts";
import { summaryOf } from "./read/record.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "submissions";

export async function listSubmissions(
  context: Context,
  call: { caller: Caller; query: ListSubmissionsQuery },
): Promise<OperationResponse<ListSubmissionsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller);
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { query } = page;
  const { policy } = deps.settings;
  const now = await deps.backend.deadlines.now();
  const filter = { ...filterFor(principal, query), expiredBefore: pastBefore(now, policy) };
  const count = isCountable(principal, filter)
    ? (atMost: number) => deps.backend.submissions.count(filter, atMost)
    : undefined;
  const { items, next } = await fillPage(page, {
    read: (before, limit) => deps.backend.submissions.list(filter, { limit, ...(before !== undefined && { before }) }),
    idOf: (row) => row.submission.submissionId,
    // What a reviewer may not see is skipped.
    async itemOf(row) {
      const intake = await context.catalog.byDigest(row.submission.definition);
      if (!maySee(principal, row.submission, intake)) return undefined;
      return summaryOf(readAt(openRow(deps.sealer, row), now, policy), { intake, values: query.fields === "true" });
    },
  });
  return { body: { ok: true, items, ...(await endPage(deps, page, { after: next, shown: items.length, count })) } };
}

/**
 * A reviewer sees some of what matches, and an agent may not see what was only declared in its actor's name. And a count
 * that no index answers would read every row of a large tenant.
 */
function isCountable(principal: Principal, { intakeIds, states, createdById, from, until }: SubmissionFilter): boolean {
  const chosen = [intakeIds, states, createdById].filter((one) => one !== undefined);
  const isIndexed = chosen.length <= 1 && (intakeIds?.length ?? 1) <= 1 && from === undefined && until === undefined;
  return isIndexed && hasRole(principal, "admin", "viewer");
}

function filterFor(principal: Principal, query: Record<string, string>): SubmissionFilter {
  const { intakeId, state, createdBy, from, until } = query;
  const seesAll = hasRole(principal, "admin", "viewer", "reviewer");
  const own = seesAll ? createdBy : principal.actor.id;
  if (!seesAll && createdBy !== undefined && createdBy !== own) {
    throw new ContractError("forbidden", "This key may only list what its actor created. Leave createdBy out.");
  }
  const intakeIds = intakesFor(principal, intakeId);
  return {
    tenant: principal.tenant,
    ...(intakeIds && { intakeIds }),
    ...(state !== undefined && { states: [state as SubmissionState] }),
    ...(own !== undefined && { createdById: own }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
}
