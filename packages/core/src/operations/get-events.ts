import {
  EVENT_STREAMS,
  EVENT_TYPES,
  type EventStream,
  type EventType,
  type GetEventsQuery,
  type GetEventsResponse,
  type IntakeEvent,
} from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import type { Submission } from "../domain/submission.ts";
import { aboutOf } from "../domain/tokens/refuse-ended.ts";
import type { EventFilter, EventLog } from "../ports/events.ts";
import type { ChainedEvent } from "../ports/store.ts";
import { type Answer, answerWith, markOf, type Shown } from "./support/answer.ts";
import type { Context } from "./support/context.ts";
import { type ReadCall, runRead } from "./support/run-read.ts";

export interface GetEventsCall extends ReadCall {
  query: GetEventsQuery;
}

const DEFAULT_LIMIT = 100;

/** The wire form of an event; salts and digests only with proof. */
export function eventView(event: ChainedEvent, { proof }: { proof: boolean }): IntakeEvent {
  const { actorSalt, actorDigest, payloadSalt, payloadDigest, ...shown } = event;
  return { ...shown, ...(proof && { proof: { actorSalt, actorDigest, payloadSalt, payloadDigest } }) };
}

/** Asking for types of another stream is asking for that stream. */
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

/** Without types, the submission stream. */
export const streamsOf = (types: readonly EventType[] | undefined): readonly EventStream[] =>
  types === undefined ? ["submission"] : [...new Set(types.map((type) => EVENT_TYPES[type].stream))];

export async function getEvents(context: Context, call: GetEventsCall): Promise<Answer<GetEventsResponse>> {
  const { query } = call;
  const filter = eventFilter(query);
  const { submission, intake, now, readToken, sight } = await runRead(context, call, "getEvents");
  if (sight === "state") throw staleReader(submission);
  const { tenant, submissionId } = submission;
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = query.afterEventId;
  const where = { tenant, submissionId, ...(after !== undefined && { afterEventId: after }), ...filter };
  const rows = await context.deps.backend.events.read(where, limit + 1);
  if (rows === undefined) throw new ContractError("bad_request", "afterEventId: there is no such event.");
  const events = rows.slice(0, limit).map((event) => eventView(event, { proof: query.proof === "true" }));
  const last = events.at(-1);
  const hasMore = rows.length > limit || (last !== undefined && (await hasAfter(context, where, last.eventId)));
  const { policy } = context.deps.settings;
  const shown: Shown = { submission, intake, now, policy, ...(readToken !== undefined && { token: readToken }) };
  const next = hasMore && last !== undefined ? { nextEventId: last.eventId } : {};
  return answerWith({ ...markOf(shown), events, hasMore, ...next }, shown);
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

/** The history tells more than a late reader may learn. */
export const staleReader = (submission: Submission): ContractError =>
  new ContractError("token_conflict", "The resume token is stale.", { about: aboutOf(submission) });
