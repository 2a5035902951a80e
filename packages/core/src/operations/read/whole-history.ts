import { EVENT_STREAMS } from "@formbridge/contract";
import type { ChainedEvent } from "../../domain/chained-event.ts";
import type { Deps } from "../deps.ts";

const PAGE = 1000;

/** All events of a submission, of all streams. */
export async function wholeHistory(
  { backend }: Deps,
  { tenant, submissionId }: { tenant: string; submissionId: string },
): Promise<ChainedEvent[]> {
  const events: ChainedEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.eventId;
    const where = { tenant, submissionId, streams: EVENT_STREAMS, ...(after !== undefined && { afterEventId: after }) };
    const page = (await backend.events.read(where, PAGE)) ?? [];
    if (page.length === 0) return events;
    events.push(...page);
  }
}
