import {
  CALLER_FIELDS,
  EVENT_STREAMS,
  EVENT_TYPES,
  type EventStream,
  type EventType,
  type GetEventsQuery,
  type GetEventsResponse,
  type IntakeEvent,
} from "@formbridge/contract";
import type { ChainedEvent } from "../domain/chained-event.ts";
import { ContractError } from "../domain/error.ts";
import type { Submission } from "../domain/submission.ts";
import { aboutOf } from "../domain/tokens/refuse-ended.ts";
import type { EventFilter, EventLog } from "../ports/events.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { hasRole } from "./identity/authenticate.ts";
import { markOf, type OperationResponse, respondWith, show } from "./read/response.ts";
import { type Readable, type ReadCall, runRead } from "./read/run-read.ts";

export interface GetEventsCall extends ReadCall {
  query: GetEventsQuery;
}

const DEFAULT_LIMIT = 100;

export interface EventSight {
  /** Include salts and digests. */
  proof: boolean;
  /** Whether the reader may see where calls came from. */
  callers: boolean;
}

/**
 * The wire form of an event. If the reader may not see where a call came from, that part of the payload is removed;
 * with proofs, the whole payload and its salt are left out, as after an erasure, because a part of it wouldn't match
 * the digest.
 */
export function eventView(event: ChainedEvent, { proof, callers }: EventSight): IntakeEvent {
  const { actorSalt, actorDigest, payloadSalt, payloadDigest, ...shown } = event;
  const payload = callers ? shown.payload : withoutCaller(shown.payload);
  if (!proof) return { ...shown, payload };
  const isWhole = payload === shown.payload;
  return {
    ...shown,
    payload: isWhole ? payload : null,
    proof: { actorSalt, actorDigest, payloadSalt: isWhole ? payloadSalt : null, payloadDigest },
  };
}

function withoutCaller(payload: ChainedEvent["payload"]): ChainedEvent["payload"] {
  if (payload === null || !CALLER_FIELDS.some((name) => name in payload)) return payload;
  const kept = { ...payload };
  for (const name of CALLER_FIELDS) delete kept[name];
  return kept;
}

/** Addresses are personal data: shown to operators, but not to models. */
export const seesCallers = (principal: Principal | undefined, { forModel }: Caller): boolean =>
  principal !== undefined && hasRole(principal, "admin") && forModel !== true;

/** Asking for types of another stream implies that stream. */
export function eventFilter(query: { stream?: EventStream | "all"; types?: string }): EventFilter {
  const types = query.types?.split(",").map((type) => type.trim());
  const unknown = types?.find((type) => !Object.hasOwn(EVENT_TYPES, type));
  if (unknown !== undefined)
    throw new ContractError("bad_request", `types: there is no event type ${JSON.stringify(unknown)}.`);
  const known = types as EventType[] | undefined;
  const streams =
    query.stream === undefined ? streamsOf(known) : query.stream === "all" ? EVENT_STREAMS : [query.stream];
  return { streams, ...(known && { types: known }) };
}

/** Defaults to the submission stream. */
export const streamsOf = (types: readonly EventType[] | undefined): readonly EventStream[] =>
  types === undefined ? ["submission"] : [...new Set(types.map((type) => EVENT_TYPES[type].stream))];

export async function getEvents(context: Context, call: GetEventsCall): Promise<OperationResponse<GetEventsResponse>> {
  const filter = eventFilter(call.query);
  return await runRead(context, call, {
    operation: "getEvents",
    use(found) {
      if (found.sight === "state") throw staleReader(found.submission);
      const callers = seesCallers(found.principal, call.caller);
      return eventsPage(context, { query: call.query, filter, callers }, found);
    },
  });
}

/** A page of the history, for an authorized reader. */
export async function eventsPage(
  context: Context,
  { query, filter, callers }: { query: GetEventsQuery; filter: EventFilter; callers: boolean },
  found: Pick<Readable, "submission" | "intake" | "now" | "held">,
): Promise<OperationResponse<GetEventsResponse>> {
  const { tenant, submissionId } = found.submission;
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = query.afterEventId;
  const where = { tenant, submissionId, ...(after !== undefined && { afterEventId: after }), ...filter };
  const rows = await context.deps.backend.events.read(where, limit + 1);
  if (rows === undefined) throw new ContractError("bad_request", "afterEventId: this event doesn't exist.");
  const sight = { proof: query.proof === "true", callers };
  const events = rows.slice(0, limit).map((event) => eventView(event, sight));
  const last = events.at(-1);
  const hasMore = rows.length > limit || (last !== undefined && (await hasAfter(context, where, last.eventId)));
  const shown = show(context.deps, found, found.held);
  const next = hasMore && last !== undefined ? { nextEventId: last.eventId } : {};
  return respondWith({ ...markOf(shown), events, hasMore, ...next }, shown);
}

/** A page may be short because its events are large. */
async function hasAfter(
  { deps }: Context,
  where: Parameters<EventLog["read"]>[0],
  afterEventId: string,
): Promise<boolean> {
  const next = await deps.backend.events.read({ ...where, afterEventId }, 1);
  return next !== undefined && next.length > 0;
}

/** The history reveals more than the bearer of a stale token may learn. */
export const staleReader = (submission: Submission): ContractError =>
  new ContractError("token_conflict", "The resume token is stale.", { about: aboutOf(submission) });
