import { Readable } from "node:stream";
import type { GetEventsQuery, IntakeEvent } from "@formbridge/contract";
import type { Operations } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { markHeaders } from "./encode.ts";
import { parseAccept } from "./parse/accept.ts";
import type { Parsed } from "./route.ts";

const SSE = "text/event-stream";
const JSON_LINES = "application/x-ndjson";
const HEARTBEAT_MS = 15_000;

/** The stream form that the client names and wants no less than plain JSON. */
export function eventForm(request: FastifyRequest): typeof SSE | typeof JSON_LINES | undefined {
  const wanted = parseAccept(request.headers.accept);
  const json = wanted.get("application/json") ?? wanted.get("application/*") ?? wanted.get("*/*") ?? 0;
  const form = (wanted.get(JSON_LINES) ?? 0) > (wanted.get(SSE) ?? 0) ? JSON_LINES : SSE;
  const quality = wanted.get(form) ?? 0;
  return quality > 0 && quality >= json ? form : undefined;
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

/** The page as JSON lines: the same events that JSON would give, one a line. */
async function sendLines({ reply, operations, parsed }: EventsAnswer): Promise<FastifyReply> {
  const { caller, target, query } = parsed;
  const { body, mark } = await operations.getEvents({ caller, target, query: query as GetEventsQuery });
  if (mark !== undefined) markHeaders(reply, mark);
  if (body.nextEventId !== undefined) reply.header("x-next-event-id", body.nextEventId);
  const lines = body.events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return reply.header("content-type", `${JSON_LINES}; charset=utf-8`).send(lines);
}

/** Server-sent events from the first event, or after the one the client saw last, until it leaves. */
async function sendLive({ request, reply, operations, parsed, stopping }: EventsAnswer): Promise<FastifyReply> {
  const { caller, target } = parsed;
  const query = { ...(parsed.query as GetEventsQuery) };
  const lastEventId = request.headers["last-event-id"];
  if (typeof lastEventId === "string" && lastEventId !== "") query.afterEventId = lastEventId;
  const gone = new AbortController();
  // The answer's own end, not the connection's: one connection carries many requests.
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

/** A comment now and then tells proxies and clients that the line is alive, and us when it is not. */
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
    // A reader that leaves between two frames: the watch must end with it.
    await events.return();
  }
}
