import type { EventStream, ListEventsQuery, ListEventsResponse } from "@formbridge/contract";
import type { Caller } from "./caller.ts";
import { eventFilter, eventView } from "./get-events.ts";
import type { Answer } from "./support/answer.ts";
import { requirePrincipal, requireRole } from "./support/authenticate.ts";
import type { Context } from "./support/context.ts";
import { DEFAULT_PAGE, nextPage, openPage } from "./support/paging.ts";

const LIST = "events";

/** The feed of a tenant, in the order of commits. An empty page at the end still has a token: ask again with it later. */
export async function listEvents(
  context: Context,
  call: { caller: Caller; query: ListEventsQuery },
): Promise<Answer<ListEventsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller);
  requireRole(principal, "admin", "viewer");
  const { limit: size, ...given } = call.query;
  const { query, after } = await openPage(deps, LIST, { ...given, ...(size !== undefined && { limit: String(size) }) });
  const limit = Number(query.limit ?? DEFAULT_PAGE);
  const intakeIds =
    query.intakeId === undefined
      ? principal.intakes
      : [query.intakeId].filter((id) => principal.intakes?.includes(id) ?? true);
  const where = {
    tenant: principal.tenant,
    ...(intakeIds && { intakeIds }),
    ...(query.from !== undefined && { from: Date.parse(query.from) }),
    ...(query.until !== undefined && { until: Date.parse(query.until) }),
    ...eventFilter(query as { stream?: EventStream | "all"; types?: string }),
  };
  const { events, position } = await deps.backend.events.feed(where, { after: Number(after ?? 0), limit });
  const items = events.map((row) => eventView(row.event, { proof: false }));
  return { body: { ok: true, items, ...(await nextPage(deps, { list: LIST, query, after: String(position) })) } };
}
