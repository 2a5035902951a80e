import type { ListSubmissionsQuery, ListSubmissionsResponse, SubmissionState } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import type { SubmissionFilter } from "../ports/submissions.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Answer } from "./support/answer.ts";
import { hasRole, reachesIntake, requirePrincipal } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { openRow } from "./support/open-snapshot.ts";
import { DEFAULT_PAGE, nextPage, openPage } from "./support/paging.ts";
import { summaryOf } from "./support/record.ts";
import { maySee } from "./support/resolve-target.ts";

const LIST = "submissions";
const MAX_LOOKS = 5;

export async function listSubmissions(
  context: Context,
  call: { caller: Caller; query: ListSubmissionsQuery },
): Promise<Answer<ListSubmissionsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller);
  const { limit: size, ...given } = call.query;
  const { query, after } = await openPage(deps, LIST, { ...given, ...(size !== undefined && { limit: String(size) }) });
  const limit = Number(query.limit ?? DEFAULT_PAGE);
  const filter = filterFor(principal, query);
  const items: ListSubmissionsResponse["items"] = [];
  let before = after;
  // What a reviewer may not see is left out here, so a page may take more than one look; a few at the most.
  for (let looks = 1; ; looks++) {
    const rows = await deps.backend.submissions.list(filter, {
      limit: limit + 1,
      ...(before !== undefined && { before }),
    });
    for (const row of rows) {
      const intake = await context.catalog.byDigest(row.submission.definition);
      const isVisible = maySee(principal, row.submission, intake);
      if (isVisible && items.length === limit) {
        return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: before })) } };
      }
      before = row.submission.submissionId;
      if (!isVisible) continue;
      items.push(summaryOf(openRow(deps.sealer, row), { intake, values: query.fields === "true" }));
    }
    if (rows.length <= limit) return { body: { ok: true, items } };
    if (looks >= MAX_LOOKS)
      return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: before })) } };
  }
}

function filterFor(principal: Principal, query: Record<string, string>): SubmissionFilter {
  const { intakeId, state, createdBy, from, until } = query;
  const seesAll = hasRole(principal, "admin", "viewer", "reviewer");
  const own = seesAll ? createdBy : principal.actor.id;
  if (!seesAll && createdBy !== undefined && createdBy !== own) {
    throw new ContractError("forbidden", "This key lists what its actor created.");
  }
  const intakeIds =
    intakeId === undefined ? principal.intakes : [intakeId].filter((id) => reachesIntake(principal, id));
  return {
    tenant: principal.tenant,
    ...(intakeIds && { intakeIds }),
    ...(state !== undefined && { states: [state as SubmissionState] }),
    ...(own !== undefined && { createdById: own }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
}
