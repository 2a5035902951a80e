import type { GetEventsResponse, IntakeEvent } from "@formbridge/contract";
import type { Position } from "./access.ts";
import { FormBridgeError } from "./error.ts";
import { readServerSentEvents } from "./sse.ts";
import type { Transport } from "./transport.ts";

export interface WatchOptions {
  /** Start after this event; from the first one when absent. */
  afterEventId?: string;
  signal?: AbortSignal;
  /** How often to poll if streaming doesn't work. */
  pollMs?: number;
}

const POLL_MS = 2_000;
/** Some proxies buffer streams or cut them: after this many streams without an event, poll instead. */
const FRUITLESS = 3;
const TERMINAL = new Set(["submission.finalized", "submission.cancelled", "submission.expired"]);

/**
 * The events of a submission as they are written, each once and in order, over reconnects. Streams where that works,
 * and polls where it doesn't. Ends with the submission, or when the signal is aborted.
 */
export async function* watchEvents(
  transport: Transport,
  position: Position,
  { afterEventId, signal, pollMs = POLL_MS }: WatchOptions = {},
): AsyncGenerator<IntakeEvent, void, undefined> {
  let last = afterEventId;
  let fruitless = 0;
  let unreachable = 0;
  while (!signal?.aborted) {
    const before = last;
    let isReached = true;
    try {
      const events =
        fruitless < FRUITLESS ? stream(transport, position, { last, signal }) : page(position, { last, signal });
      for await (const event of events) {
        last = event.eventId;
        yield event;
        if (TERMINAL.has(event.type)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof FormBridgeError && !error.retryable) throw error;
      isReached = error instanceof FormBridgeError;
    }
    // A server that is being restarted says nothing about whether streams get through.
    unreachable = isReached ? 0 : unreachable + 1;
    if (isReached && fruitless < FRUITLESS) fruitless = last === before ? fruitless + 1 : 0;
    const attempt = Math.max(fruitless, unreachable) + 1;
    try {
      await transport.sleep(fruitless < FRUITLESS ? transport.delay(attempt) : pollMs, signal);
    } catch {
      return;
    }
  }
}

interface From {
  last: string | undefined;
  signal: AbortSignal | undefined;
}

async function* stream(transport: Transport, position: Position, { last, signal }: From): AsyncGenerator<IntakeEvent> {
  const request = {
    method: "GET" as const,
    path: `${position.readPath()}/events`,
    route: "/submissions/{id}/events",
    repeatable: true,
    signal,
  };
  const response = await transport.open(request, {
    accept: "text/event-stream",
    ...(last !== undefined && { "last-event-id": last }),
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null) {
    throw new FormBridgeError("bad_answer", "The response is not an event stream.", { retryable: true });
  }
  for await (const { data } of readServerSentEvents(response.body as ReadableStream<Uint8Array>)) {
    yield JSON.parse(data) as IntakeEvent;
  }
}

async function* page(position: Position, { last, signal }: From): AsyncGenerator<IntakeEvent> {
  let after = last;
  while (true) {
    const { events, hasMore, nextEventId } = await position.read<GetEventsResponse>({
      method: "GET",
      below: "/events",
      route: "/submissions/{id}/events",
      query: { afterEventId: after, limit: 1000 },
      repeatable: true,
      signal,
    });
    yield* events;
    if (!hasMore || nextEventId === undefined) return;
    after = nextEventId;
  }
}
