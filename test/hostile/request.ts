import {
  ACCEPTS,
  BAD_VERSIONS,
  LAST_EVENT_IDS,
  ODD_IDEMPOTENCY_KEYS,
  ODD_MEDIA_TYPES,
  QUERY_NAMES,
  QUERY_VALUES,
} from "./corpus-heads.ts";
import type { Operation } from "./operations.ts";
import type { Random } from "./random.ts";
import type { WireRequest } from "./wire.ts";

type Header = readonly [name: string, value: string];

export interface Draft {
  operation: Operation;
  /** Path parameters, as sent. */
  params: Record<string, string>;
  query?: string;
  headers?: Header[];
  body?: Buffer;
}

/** Fills a template. A parameter that is not given becomes an unused name. */
export function toRequest({ operation, params, query = "", headers = [], body }: Draft, random: Random): WireRequest {
  const path = operation.template.replace(
    /\{([A-Za-z]+)\}/g,
    (_, name: string) => params[name] ?? freeName(name, random),
  );
  const isTyped = headers.some(([name]) => name.toLowerCase() === "content-type");
  return {
    method: operation.method,
    path: query === "" ? path : `${path}?${query}`,
    headers: [
      ["Host", "127.0.0.1"],
      ["X-Request-Id", `case-${random.text(6)}`],
      ...headers,
      ...(body !== undefined && !isTyped ? [["Content-Type", "application/json"] as const] : []),
    ],
    ...(body !== undefined && { body }),
    ...(body !== undefined && body.length > 0 && random.chance(0.05) && { chunked: true }),
  };
}

function freeName(name: string, random: Random): string {
  if (name === "uploadId") return `upl_${uuid(random)}`;
  if (name === "handoffId") return `hof_${uuid(random)}`;
  if (name === "token") return unknownToken(random);
  if (name === "keyId") return `key_${uuid(random)}`;
  if (name === "webhookId") return `whk_${uuid(random)}`;
  if (name === "incidentId") return `inc_${uuid(random)}`;
  if (name === "blockId") return `blk_${uuid(random)}`;
  return name === "intakeId" ? `absent-${random.below(1000)}` : `sub_${uuid(random)}`;
}

export const uuid = (random: Random): string => {
  const hex = (length: number): string => random.text(length, "0123456789abcdef");
  return `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
};

export const unknownSession = (random: Random): string => `sess_${random.text(43)}`;
export const unknownToken = (random: Random): string => `rtok_${random.text(43)}`;

/** An invalid token: cut, extended, in the wrong case, or of another kind. */
export function malformedToken(token: string, random: Random): string {
  return random.pick([
    token.slice(0, -1),
    `${token}A`,
    token.slice(5),
    token.toUpperCase(),
    `rtok_${"!".repeat(43)}`,
    "rtok_",
    `rvw_${token.slice(5)}`,
    `fbk_${token.slice(5)}`,
    "__proto__",
    "null",
  ]);
}

/** The spellings of If-Match that the contract accepts. */
export const spelled = (token: string, version: number, random: Random): string =>
  random.pick([token, `"${token}"`, `"v${version}-${token}"`]);

/** If-Match values with an invalid token. Each is refused wherever If-Match is read. */
export const GARBAGE_CONDITIONS: readonly string[] = [
  '"garbage"',
  'W/"1"',
  '"v1-"',
  '"v1-garbage"',
  '"1", "2"',
  '"-1"',
  '"1.5"',
  '"NaN"',
  '"99999999999999999999"',
  '"rtok_short"',
  "'rtok_'",
  '"__proto__"',
  "{}",
  "\u00ff",
];

/** A query of the document's own parameters with hostile values, and sometimes unknown names. */
export function hostileQuery(operation: Operation, random: Random): string {
  const known = operation.parameters.filter((parameter) => parameter.in === "query").map((parameter) => parameter.name);
  const names = known.length > 0 && random.chance(0.85) ? known : QUERY_NAMES;
  const pairs = Array.from({ length: 1 + random.below(3) }, () => `${random.pick(names)}=${random.pick(QUERY_VALUES)}`);
  if (random.chance(0.15)) pairs.push(pairs[0] ?? "");
  return pairs.join(random.chance(0.9) ? "&" : random.pick(["&&", ";", "&=&", "?"]));
}

/** Headers that may be wrong, odd, or repeated. None of them can break the framing of the request. */
export function oddHeaders(random: Random): Header[] {
  const pool: (() => Header)[] = [
    () => ["Accept", random.pick(ACCEPTS)],
    () => ["Last-Event-ID", random.pick(LAST_EVENT_IDS)],
    () => ["Idempotency-Key", random.pick(ODD_IDEMPOTENCY_KEYS)],
    () => ["X-Idempotency-TTL", random.pick(["0", "1", "-1", "abc", "999999999999", "9999999999999"])],
    () => ["X-Intake-Version", random.pick(BAD_VERSIONS)],
    () => ["If-None-Match", random.pick([...GARBAGE_CONDITIONS, "*", '"1"'])],
    () => ["If-Match", random.pick(["*", "", ...GARBAGE_CONDITIONS])],
    () => ["X-Request-Id", random.pick(["", "a b", "x".repeat(129), "<script>", "ok-1", "\u00ff"])],
    () => ["Content-Type", random.pick(ODD_MEDIA_TYPES)],
    () => ["X-Forwarded-For", "10.0.0.1, evil"],
    () => ["X-HTTP-Method-Override", "DELETE"],
    () => ["Origin", random.pick(["null", "http://evil.example", "\u00ff"])],
    () => ["Prefer", random.pick(["wait=-1", "wait=1e9", "wait=0", "garbage"])],
    () => ["Content-Encoding", random.pick(["gzip", "br", "x"])],
    () => ["X-Many", "m".repeat(random.pick([1, 1000, 6000]))],
    () => ["Cookie", "session=__proto__; =; ;"],
    () => ["Cookie", `formbridge_session=${random.pick(["", "sess_", unknownSession(random), "%00", "a,b"])}`],
    () => ["Upgrade", "websocket"],
    () => ["__proto__", "x"],
  ];
  return Array.from({ length: random.below(3) }, () => random.pick(pool)());
}
