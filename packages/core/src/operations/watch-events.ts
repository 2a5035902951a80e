import type { IntakeEvent } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import { eventFilter, eventView, type GetEventsCall, staleReader } from "./get-events.ts";
import { createBell } from "./support/bell.ts";
import type { Context } from "./support/context.ts";
import { runRead, stillReads } from "./support/run-read.ts";

const BATCH = 200;

/**
 * A submission's events as they come: first what is there, then what is written, until the reader leaves. Wake-ups are hints;
 * every batch comes from the log, in order and without a gap. A reader whose right was taken away gets nothing more.
 */
export async function watchEvents(
  context: Context,
  call: GetEventsCall & { signal: AbortSignal },
): Promise<AsyncGenerator<IntakeEvent, void, undefined>> {
  const filter = eventFilter(call.query);
  const { submission, sight } = await runRead(context, call, "getEvents");
  if (sight === "state") throw staleReader(submission);
  const { tenant, submissionId } = submission;
  const { events } = context.deps.backend;
  const proof = call.query.proof === "true";
  const first = call.query.afterEventId;
  const read = (after: string | undefined) =>
    events.read({ tenant, submissionId, ...(after !== undefined && { afterEventId: after }), ...filter }, BATCH);
  // Read before the answer begins: an unknown place is a 400, not a broken stream.
  const opening = await read(first);
  if (opening === undefined) throw new ContractError("bad_request", "afterEventId: there is no such event.");
  return follow(opening);

  async function* follow(start: NonNullable<typeof opening>): AsyncGenerator<IntakeEvent, void, undefined> {
    const bell = createBell(call.signal);
    const unsubscribe = context.deps.wakeups.subscribe(submissionId, bell.ring);
    try {
      let batch = start;
      let after = first;
      let ended = false;
      while (true) {
        for (const event of batch) {
          after = event.eventId;
          yield eventView(event, { proof });
        }
        if (ended) return;
        // A short batch may be a large one: only an empty one is the end, for now.
        if (batch.length === 0) await bell.rung();
        // Looked at before the read: what was written before the watch was ended still reaches its reader.
        ended = call.signal.aborted;
        batch = (await read(after)) ?? [];
        // Asked after the read: no batch that leaves has what was written after a revocation.
        if (!(await stillReads(context, call))) return;
      }
    } finally {
      unsubscribe();
    }
  }
}
