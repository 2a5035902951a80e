import { Readable } from "node:stream";
import type { GetEventsQuery, IntakeEvent } from "@formbridge/contract";
import type { Operations } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { markHeaders } from "./encode.ts";
import { JSON_LINES } from "./list-export.ts";
import { preferredType } from "./parse/preferred.ts";
import type { Parsed } from "./route.ts";

const SSE = "text/event-stream";
const HEARTBEAT_MS = 15_000;

/** The stream format that the client prefers to plain JSON, if any. */
export function eventForm(request: FastifyRequest): typeof SSE | typeof JSON_LINES | undefined {
  const preferred = preferredType(request, ["application/json", SSE, JSON_LINES]);
  return preferred === "application/json" ? undefined : preferred;
}

interface EventsAnswer {
  form: NonNullable<ReturnType<typeof eventForm>>;
  request: FastifyRequest;
  reply: FastifyReply;
  operations: Operations;
  parsed: Parsed;
  stopping: AbortSignal;
}

export async function sendEvents(answer: EventsAnswer): Promise<FastifyReply> {
  return answer.form === SSE ? await sendLive(answer) : await sendLines(answer);
}

/** The page as JSON lines: the same events as in JSON, one per line. */
async function sendLines({ reply, operations, parsed }: EventsAnswer): Promise<FastifyReply> {
  const { caller, target, query } = parsed;
  const { body, mark } = await operations.getEvents({ caller, target, query: query as GetEventsQuery });
  if (mark !== undefined) markHeaders(reply, mark);
  if (body.nextEventId !== undefined) reply.header("x-next-event-id", body.nextEventId);
  const lines = body.events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return reply.header("content-type", `${JSON_LINES}; charset=utf-8`).send(lines);
}

/** Server-sent events, from the first one or after the last one that the client saw, until it disconnects. */
async function sendLive({ request, reply, operations, parsed, stopping }: EventsAnswer): Promise<FastifyReply> {
  const { caller, target } = parsed;
  const query = { ...(parsed.query as GetEventsQuery) };
  const lastEventId = request.headers["last-event-id"];
  if (typeof lastEventId === "string" && lastEventId !== "") query.afterEventId = lastEventId;
  const gone = new AbortController();
  // Watch the response, not the connection, which may carry many requests.
  reply.raw.once("close", () => gone.abort());
  const signal = AbortSignal.any([gone.signal, stopping]);
  const events = await operations.watchEvents({ caller, target, query, signal });
  return reply
    .header("content-type", `${SSE}; charset=utf-8`)
    .header("x-accel-buffering", "no")
    .send(Readable.from(withHeartbeat(events), { objectMode: false }));
}

const frame = (event: IntakeEvent): string =>
  `id: ${event.eventId}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** A periodic comment keeps proxies and clients from closing the connection, and shows us when it is gone. */
async function* withHeartbeat(
  events: AsyncGenerator<IntakeEvent, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  try {
    yield ": connected\n\n";
    let next = events.next();
    while (true) {
      let timer: NodeJS.Timeout | undefined;
      const beat = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), HEARTBEAT_MS);
      });
      const result = await Promise.race([next, beat]);
      clearTimeout(timer);
      if (result === undefined) {
        yield ": still here\n\n";
        continue;
      }
      if (result.done === true) return;
      yield frame(result.value);
      next = events.next();
    }
  } finally {
    // If the reader leaves between two frames, end the watch too.
    await events.return();
  }
}
