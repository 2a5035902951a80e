import { type ChainedEvent, type EventFilter, type EventLog, MAX_PAGE_SIZE, toIso } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

const chosen = ({ stream, type }: ChainedEvent, { streams, types }: EventFilter): boolean =>
  streams.includes(stream) && (types === undefined || types.includes(type));

/** Accepts events until they fill a page; the first one always fits. */
function createSizeLimit(): (event: ChainedEvent) => boolean {
  let size = 0;
  let full = false;
  return ({ payload }) => {
    const before = size;
    size += JSON.stringify(payload).length;
    full ||= before > 0 && size > MAX_PAGE_SIZE;
    return !full;
  };
}

export function createEventLog(tables: Tables): EventLog {
  return {
    read: ({ tenant, submissionId, afterEventId, ...filter }, limit) =>
      answer(tables, () => {
        const own = (tables.eventsOf.get(submissionId) ?? []).filter((stored) => stored.tenant === tenant);
        const known = own.findIndex(({ event }) => event.eventId === afterEventId);
        if (afterEventId !== undefined && known === -1) return undefined;
        return own
          .slice(known + 1)
          .map(({ event }) => event)
          .filter((event) => chosen(event, filter))
          .slice(0, limit)
          .filter(createSizeLimit());
      }),
    feed: ({ tenant, intakeIds, from, until, ...filter }, { after, limit }) =>
      answer(tables, () => {
        const found = tables.events.filter(
          ({ position, tenant: owner, intakeId, event }) =>
            position > after &&
            owner === tenant &&
            chosen(event, filter) &&
            (intakeIds === undefined || intakeIds.includes(intakeId)) &&
            (from === undefined || event.ts >= toIso(from)) &&
            (until === undefined || event.ts < toIso(until)),
        );
        const page = found.slice(0, limit);
        const fits = createSizeLimit();
        const events = page
          .filter(({ event }) => fits(event))
          .map(({ position, intakeId, event }) => ({ position, intakeId, event }));
        const whole = events.length === found.length;
        const position = whole ? Math.max(after, tables.lastPosition) : (events.at(-1)?.position ?? after);
        return { events, position };
      }),
  };
}
