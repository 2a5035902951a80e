import { EVENT_STREAMS } from "@formbridge/contract";
import { type Backend, type ChainedEvent, DEFAULT_TENANT } from "@formbridge/core";
import { Option } from "commander";

export const tenantOption = () => new Option("--tenant <id>", "tenant of the submission").default(DEFAULT_TENANT);

const BATCH = 1000;

/** All events of a submission, of all streams, in the order they were written. */
export async function* historyOf(
  backend: Backend,
  where: { tenant: string; submissionId: string },
): AsyncGenerator<ChainedEvent, void, undefined> {
  let afterEventId: string | undefined;
  for (;;) {
    const query = { ...where, streams: EVENT_STREAMS, ...(afterEventId !== undefined && { afterEventId }) };
    const events = (await backend.events.read(query, BATCH)) ?? [];
    yield* events;
    if (events.length === 0) return;
    afterEventId = events.at(-1)?.eventId;
  }
}
