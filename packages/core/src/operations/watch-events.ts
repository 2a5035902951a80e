import type { IntakeEvent } from "@formbridge/contract";
import { ContractError } from "../domain/error.ts";
import type { EventFilter } from "../ports/events.ts";
import type { Context } from "./context.ts";
import { eventFilter, eventView, type GetEventsCall, seesCallers, staleReader } from "./get-events.ts";
import { createNotifier } from "./read/notifier.ts";
import { type Readable, runRead, stillReads } from "./read/run-read.ts";

const BATCH = 200;

/**
 * A submission's events as they are written: first the existing ones, then new ones until the reader disconnects.
 * Notifications may get lost: every batch is read from the log, in order and without gaps, at least every second. A
 * reader whose access was revoked gets nothing more.
 */
export async function watchEvents(
  context: Context,
  call: GetEventsCall & { signal: AbortSignal },
): Promise<AsyncGenerator<IntakeEvent, void, undefined>> {
  const filter = eventFilter(call.query);
  return await runRead(context, call, {
    operation: "getEvents",
    use: (found) => openWatch(context, { ...call, filter }, found),
  });
}

async function openWatch(
  context: Context,
  call: GetEventsCall & { signal: AbortSignal; filter: EventFilter },
  { submission, sight, principal }: Readable,
): Promise<AsyncGenerator<IntakeEvent, void, undefined>> {
  const { filter } = call;
  if (sight === "state") throw staleReader(submission);
  const { tenant, submissionId } = submission;
  const { events } = context.deps.backend;
  const { watchPollMs } = context.deps.settings;
  const view = { proof: call.query.proof === "true", callers: seesCallers(principal, call.caller) };
  const first = call.query.afterEventId;
  const read = (after: string | undefined) =>
    events.read({ tenant, submissionId, ...(after !== undefined && { afterEventId: after }), ...filter }, BATCH);
  // Read before the response begins, so that an unknown position is a 400 and not a broken stream.
  const opening = await read(first);
  if (opening === undefined) throw new ContractError("bad_request", "afterEventId: this event doesn't exist.");
  return follow(opening);

  async function* follow(start: NonNullable<typeof opening>): AsyncGenerator<IntakeEvent, void, undefined> {
    const notifier = createNotifier(call.signal);
    const unsubscribe = context.deps.wakeups.subscribe(submissionId, notifier.notify);
    // Something may have been written before the subscription.
    notifier.notify();
    const { record } = context.deps.instrumentation;
    record({ name: "watchers", change: 1 });
    try {
      let batch = start;
      let after = first;
      let ended = false;
      while (true) {
        for (const event of batch) {
          after = event.eventId;
          yield eventView(event, view);
        }
        if (ended) return;
        // A short batch may just be a large one: only an empty batch is the end for now.
        if (batch.length === 0) await notifier.notified(watchPollMs);
        // Checked before the read, so that what was written before the watch ended still reaches its reader.
        ended = call.signal.aborted;
        batch = (await read(after)) ?? [];
        // Checked after the read, so that no batch contains events from after a revocation.
        if (!(await stillReads(context, call))) return;
      }
    } finally {
      unsubscribe();
      record({ name: "watchers", change: -1 });
    }
  }
}
