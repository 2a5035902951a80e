import type { Host, JsonObject } from "./host.ts";

/** A placeholder address: requests to it go through the host. */
export const HOST_URL = "https://formbridge.invalid";

/** Polling interval. Hosts can't stream. */
const NEWS_MS = 3_000;

interface Asked {
  path: string;
  body: JsonObject;
  query: URLSearchParams;
}

interface Way {
  method: string;
  path: RegExp;
  /** The arguments of our tool; `inPath` is what `path` captures. */
  args(asked: Asked, inPath: string): JsonObject;
  /** The part of the tool's result that the API would respond with. */
  answer?(body: JsonObject): unknown;
}

const record = ({ record: found }: JsonObject): unknown => found;

/** The calls of the API that a form makes, as calls of our tool. */
const WAYS: readonly Way[] = [
  { method: "GET", path: /^$/, args: () => ({ action: "read" }), answer: record },
  { method: "GET", path: /^intake$/, args: () => ({ action: "intake" }), answer: ({ shown }) => shown },
  {
    method: "GET",
    path: /^events$/,
    args: ({ query }) => ({ action: "events", ...afterIn(query) }),
    answer: ({ history }) => history,
  },
  {
    method: "POST",
    path: /^sessions$/,
    args: ({ body: { carrier: _carrier, ...proof } }) => ({ action: "open", ...proof }),
  },
  { method: "PATCH", path: /^fields$/, args: ({ body }) => ({ action: "save", fields: body.fields }), answer: record },
  {
    method: "POST",
    path: /^uploads$/,
    args: ({ body: { field, filename, mimeType, sizeBytes } }) => ({
      action: "upload",
      field,
      filename,
      mimeType,
      sizeBytes,
    }),
    answer: ({ upload, ...rest }) => ({ ...rest, ...(upload as object) }),
  },
  {
    method: "POST",
    path: /^uploads\/([^/]+)\/confirm$/,
    args: (_asked, uploadId) => ({ action: "confirm", uploadId }),
    answer: record,
  },
  {
    method: "DELETE",
    path: /^uploads\/([^/]+)$/,
    args: (_asked, uploadId) => ({ action: "abandon", uploadId }),
    answer: record,
  },
  { method: "POST", path: /^handoffs\/[^/]+\/complete$/, args: () => ({ action: "complete" }) },
  { method: "POST", path: /^submit$/, args: ({ body }) => ({ action: "submit", idempotencyKey: body.idempotencyKey }) },
];

const afterIn = (query: URLSearchParams): JsonObject => {
  const afterEventId = query.get("afterEventId");
  return afterEventId === null ? {} : { afterEventId };
};

/** A `fetch` for the client: the API's calls go through the host, bytes of files straight to where they are kept. */
export function createHostFetch(host: Host): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input));
    if (url.origin !== HOST_URL) return await globalThis.fetch(input, init);
    const [, submissionId = "", path = ""] = /^\/submissions\/([^/]+)\/?(.*)$/.exec(url.pathname) ?? [];
    const headers = new Headers(init.headers);
    const common = { submissionId, ...sessionIn(headers), ...versionIn(headers) };
    if (path === "events" && headers.get("accept") === "text/event-stream") {
      return newsStream(async (query) => await ask({ path, body: {}, query }, "GET"), init.signal ?? undefined);
    }
    async function ask(asked: Asked, method: string): Promise<Response> {
      const way = WAYS.find((each) => each.method === method && each.path.test(asked.path));
      if (way === undefined) return jsonOf({ ok: false, error: NOT_HERE });
      const inPath = way.path.exec(asked.path)?.[1] ?? "";
      const answer = await host.call({ ...common, ...way.args(asked, inPath) });
      return jsonOf(answer.ok === true ? (way.answer?.(answer) ?? answer) : answer);
    }
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as JsonObject) : {};
    return await ask({ path, body, query: url.searchParams }, init.method ?? "GET");
  };
}

const NOT_HERE = { type: "not_found", message: "An app can't do this.", retryable: false };

const sessionIn = (headers: Headers): JsonObject => {
  const session = headers.get("authorization")?.replace(/^Bearer /, "");
  return session === undefined ? {} : { session };
};

const versionIn = (headers: Headers): JsonObject => {
  const version = headers.get("if-match")?.replaceAll('"', "");
  return version === undefined ? {} : { version: Number(version) };
};

function jsonOf(body: unknown): Response {
  const { ok, error } = body as { ok?: boolean; error?: { retryable?: boolean } };
  const failed = error?.retryable === true ? 503 : 400;
  return new Response(JSON.stringify(body), {
    status: ok === true ? 200 : failed,
    headers: { "content-type": "application/json" },
  });
}

interface Page {
  ok: boolean;
  events: { eventId: string }[];
}

/** An event stream by polling. A form in the background doesn't poll. */
function newsStream(ask: (query: URLSearchParams) => Promise<Response>, signal: AbortSignal | undefined): Response {
  const encoder = new TextEncoder();
  let after: string | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (signal?.aborted !== true) {
        const isFirst = after === undefined;
        if (!isFirst) await new Promise((resolve) => setTimeout(resolve, NEWS_MS));
        if (document.visibilityState === "hidden" && !isFirst) continue;
        const response = await ask(new URLSearchParams(after === undefined ? {} : { afterEventId: after }));
        const { ok, events = [] } = (await response.json()) as Page;
        if (!ok) break;
        after = events.at(-1)?.eventId ?? after ?? "";
        if (events.length === 0) continue;
        for (const event of events) controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
        return;
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
