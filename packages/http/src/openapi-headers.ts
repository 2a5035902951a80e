import type { TSchema } from "typebox";
import type { Route } from "./route.ts";

type Document = Record<string, unknown>;

interface RequestHeader {
  about: string;
  /** The routes that document this header; absent if it is described elsewhere, as a credential or for every call. */
  on?: (route: Route) => boolean;
}

const isWrite = ({ path, method }: Route): boolean => path.includes(":ref") && method !== "GET";
const readsSubmission = ({ response, method }: Route): boolean => method === "GET" && hasProperty(response, "ttl");
const isEventPage = ({ id }: Route): boolean => id.startsWith("getEvents");
const waitsForDelivery = ({ id }: Route): boolean => /^(submit|review)/.test(id);

/** Request headers: the reference page's table, and the parameters of the OpenAPI document. */
export const REQUEST_HEADERS: Record<string, RequestHeader> = {
  "Authorization: Bearer fbk_…": { about: "an API key, or a JWT from a trusted issuer" },
  "Authorization: Bearer sess_…": { about: "a hand-off session" },
  Cookie: { about: "a hand-off session in a browser" },
  Origin: { about: "sent by browsers; a write by cookie needs the origin of our own pages" },
  "If-Match": {
    about:
      'the token or version that the write is made on: `rtok_…`, `"rtok_…"`, `"42"` or `"v42-rtok_…"`; `*` counts as absent',
    on: isWrite,
  },
  "X-Intake-Version": { about: "when given, must be the submission's current version", on: isWrite },
  "If-None-Match": {
    about:
      "the states that you have: tokens, versions or both; 304 when one is current. Lists, `W/` and `*` are accepted",
    on: readsSubmission,
  },
  "Idempotency-Key": {
    about: "the same for every retry of the same call; wins over `idempotencyKey` in the body",
    on: ({ keyed }) => keyed === true,
  },
  Prefer: {
    about: "`wait=N`: wait up to N seconds for the first delivery attempt (0 to 30, 1 by default)",
    on: waitsForDelivery,
  },
  Accept: {
    about:
      "events: JSON, `application/x-ndjson` or `text/event-stream`; lists: also `application/x-ndjson` for all of it, and `text/csv` for one intake's submissions; links: `text/html` gets the page",
  },
  "Last-Event-ID": { about: "for a live stream: continue after this event", on: isEventPage },
  Range: { about: "one range of a file's bytes" },
  "X-Request-Id": {
    about:
      "echoed if it has 1 to 128 letters, digits or `._:-` and contains no token, API key or idempotency key; replaced otherwise",
  },
  "X-Idempotency-TTL": {
    about: "only with `FORMBRIDGE_ALLOW_TEST_HEADERS=1`: how long the response is kept, in milliseconds",
  },
};

/** Response headers: the reference page's table, and the header components of the OpenAPI document. */
export const RESPONSE_HEADERS = {
  ETag: "the quoted token for those who may hold it, the quoted version for others",
  "X-Resume-Token": "the current token, for those who may hold it; never on a 410",
  "X-Submission-Version": "the submission's version",
  "X-Intake-Version": "the same as `X-Submission-Version`, under the name that requests use",
  "Last-Modified": "when the submission last changed; also on errors that contain its version",
  "Idempotent-Replayed": "`true` on a recorded response",
  "X-Original-Request-Time": "when the recorded response was made, ISO 8601",
  "X-Next-Event-Id": "JSON lines: there are more events; pass this as `afterEventId`",
  "Retry-After": "seconds to wait before retrying; on 429, and on a 409 or 503 where waiting helps",
  RateLimit: "what is left of the rate limit for creates, and when it resets; a refused create has `Retry-After`",
  "RateLimit-Policy": "the rate limit for creates and its window",
  "Set-Cookie": "the session, unless it was requested as a header",
  "WWW-Authenticate": "on 401: how to authenticate",
  Allow: "on 405: the methods of this path",
  "X-Request-Id": "identifies this request in the log",
  "Cache-Control": "`no-store` on every response of the API",
} as const;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

const MARK = ["ETag", "X-Resume-Token", "X-Submission-Version", "X-Intake-Version", "Last-Modified"] as const;
const REPLAY = ["Idempotent-Replayed", "X-Original-Request-Time"] as const;
const ALWAYS = ["X-Request-Id", "Cache-Control"] as const;

/** Whether the schema, or one of its alternatives, has this property. */
function hasProperty(schema: TSchema, name: string): boolean {
  const { properties, anyOf } = schema as { properties?: object; anyOf?: TSchema[] };
  if (anyOf !== undefined) return anyOf.some((alternative) => hasProperty(alternative, name));
  return properties !== undefined && Object.hasOwn(properties, name);
}

export const headerParameters = (route: Route): Document[] =>
  Object.entries(REQUEST_HEADERS).flatMap(([name, { about, on }]) =>
    on?.(route) === true
      ? [{ name, in: "header", required: false, description: about, schema: { type: "string" } }]
      : [],
  );

/** The headers that a response of this route with this status may have. */
export function headersOf(route: Route, status: number): Document {
  const isAboutSubmission = hasProperty(route.response, "submissionId") && hasProperty(route.response, "version");
  return references([
    ...(isAboutSubmission && status !== 401 ? MARK.filter((name) => name !== "X-Resume-Token" || status !== 410) : []),
    ...(route.keyed === true && status !== 401 ? REPLAY : []),
    ...(isEventPage(route) && status === 200 ? (["X-Next-Event-Id"] as const) : []),
    ...(route.id === "createSubmission" && status < 300 ? (["RateLimit", "RateLimit-Policy"] as const) : []),
    ...(route.setsCookie === true && status === 201 ? (["Set-Cookie"] as const) : []),
    ...failureHeaders(status),
  ]);
}

const failureHeaders = (status: number): ResponseHeader[] => [
  ...([409, 429, 503].includes(status) ? (["Retry-After"] as const) : []),
  ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
];

/** For paths outside the route table, such as health, which aren't about a submission. */
export const plainHeadersOf = (status: number): Document => references(failureHeaders(status));

const references = (names: readonly ResponseHeader[]): Document =>
  Object.fromEntries([...names, ...ALWAYS].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const headerComponents = (): Document =>
  Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
