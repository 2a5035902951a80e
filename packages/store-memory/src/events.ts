import { type ChainedEvent, type EventFilter, type EventLog, toIso } from "@formbridge/core";
import { answer, type Tables } from "./tables.ts";

const chosen = ({ stream, type }: ChainedEvent, { streams, types }: EventFilter): boolean =>
  streams.includes(stream) && (types === undefined || types.includes(type));

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
          .slice(0, limit);
      }),
    auditHeads: ({ tenant, submissionId }) =>
      answer(tables, () => {
        const stored = tables.submissions.get(submissionId);
        if (stored === undefined || stored.tenant !== tenant) return undefined;
        const { tokenHead, idempotencyHead } = stored;
        return { tokenHead, idempotencyHead };
      }),
    feed: ({ tenant, intakeIds, from, until, ...filter }, { after, limit }) =>
      answer(tables, () => {
        const found = tables.events
          .slice(after)
          .filter(
            ({ tenant: owner, intakeId, event }) =>
              owner === tenant &&
              chosen(event, filter) &&
              (intakeIds === undefined || intakeIds.includes(intakeId)) &&
              (from === undefined || event.ts >= toIso(from)) &&
              (until === undefined || event.ts < toIso(until)),
          );
        return found.slice(0, limit).map(({ position, event }) => ({ position, event }));
      }),
  };
}
