import type { EventStream, ListEventsQuery, ListEventsResponse } from "@formbridge/contract";
import type { ChainedEvent } from "../domain/chained-event.ts";
import type { EventFilter } from "../ports/events.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { eventFilter, eventView, seesCallers } from "./get-events.ts";
import { intakesFor, reachesIntake, requirePrincipal } from "./identity/authenticate.ts";
import { nextPage, openPage } from "./read/paging.ts";
import type { OperationResponse } from "./read/response.ts";

const LIST = "events";

/** How often a filtered page reads the log: a rare kind of actor makes pages short, not slow. */
const MAX_LOOKS = 10;

/** Some events of the log, and where to continue; at the end the position stays. */
interface Look {
  events: { event: ChainedEvent; place: string }[];
  place: string;
}
type LookOn = (after: string, limit: number) => Promise<Look>;

/** A tenant's feed in commit order. An empty page at the end still has a token, to ask again later. */
export async function listEvents(
  context: Context,
  call: { caller: Caller; query: ListEventsQuery },
): Promise<OperationResponse<ListEventsResponse>> {
  const { deps } = context;
  const principal = await requirePrincipal(deps, call.caller, "admin", "viewer");
  const page = await openPage(deps, { list: LIST, principal }, call.query);
  const { query, limit } = page;
  const filter = eventFilter(query as { stream?: EventStream | "all"; types?: string });
  const look =
    query.submissionId === undefined
      ? inFeed(context, { principal, query, filter })
      : await inSubmission(context, { principal, query, filter, submissionId: query.submissionId });
  const { events, place } = await gather(look, {
    after: page.after ?? "",
    limit,
    wants: wantedBy(query),
    looks: isSifted(query) ? MAX_LOOKS : 1,
  });
  const sight = { proof: false, callers: seesCallers(principal, call.caller) };
  const items = events.map((event) => eventView(event, sight));
  const atEnd = items.length === 0 && place === (page.after ?? "0");
  const next = await nextPage(deps, page, { after: place, shown: items.length });
  return { body: { ok: true, items, ...next }, ...(atEnd && { atEnd: true as const }) };
}

interface Asked {
  principal: Principal;
  query: Record<string, string>;
  filter: EventFilter;
}

const timesOf = ({ from, until }: Record<string, string>) => ({
  ...(from !== undefined && { from: Date.parse(from) }),
  ...(until !== undefined && { until: Date.parse(until) }),
});

function inFeed({ deps }: Context, { principal, query, filter }: Asked): LookOn {
  const intakeIds = intakesFor(principal, query.intakeId);
  const where = { tenant: principal.tenant, ...(intakeIds && { intakeIds }), ...timesOf(query), ...filter };
  return async (after, limit) => {
    const { events, position } = await deps.backend.events.feed(where, { after: Number(after), limit });
    return {
      events: events.map((one) => ({ event: one.event, place: String(one.position) })),
      place: String(position),
    };
  };
}

/** One submission's events are read without scanning the feed. */
async function inSubmission(
  { deps }: Context,
  { principal, query, filter, submissionId }: Asked & { submissionId: string },
): Promise<LookOn> {
  const { tenant } = principal;
  const { submission: row } = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  const intakeId = row?.submission.intakeId;
  const isAsked = query.intakeId === undefined || query.intakeId === intakeId;
  if (intakeId === undefined || !isAsked || !reachesIntake(principal, intakeId)) {
    return async (after) => ({ events: [], place: after });
  }
  return async (after, limit) => {
    const where = { tenant, submissionId, ...(after !== "" && { afterEventId: after }), ...filter };
    const events = (await deps.backend.events.read(where, limit)) ?? [];
    const placed = events.map((event) => ({ event, place: event.eventId }));
    return { events: placed, place: placed.at(-1)?.place ?? after };
  };
}

/** Whether filters leave out some of what the log returns. */
const isSifted = ({ actorKind, submissionId, from, until }: Record<string, string>): boolean =>
  actorKind !== undefined || (submissionId !== undefined && (from ?? until) !== undefined);

function wantedBy(query: Record<string, string>): (event: ChainedEvent) => boolean {
  const { from, until } = timesOf(query);
  return ({ actor, ts }) => {
    const at = Date.parse(ts);
    const isInTime = (from === undefined || at >= from) && (until === undefined || at < until);
    return isInTime && (query.actorKind === undefined || actor?.kind === query.actorKind);
  };
}

async function gather(
  look: LookOn,
  page: { after: string; limit: number; looks: number; wants: (event: ChainedEvent) => boolean },
): Promise<{ events: ChainedEvent[]; place: string }> {
  const { limit, wants } = page;
  const events: ChainedEvent[] = [];
  let place = page.after;
  for (let looks = 0; looks < page.looks; looks++) {
    const found = await look(place, limit);
    const isEnd = found.events.length === 0 && found.place === place;
    for (const one of found.events) {
      if (events.length === limit) return { events, place };
      place = one.place;
      if (wants(one.event)) events.push(one.event);
    }
    place = found.place;
    if (isEnd || events.length === limit) break;
  }
  return { events, place };
}
