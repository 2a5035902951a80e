import type { ContractPromise } from "./promise.ts";

/** What happens to invalid and hostile requests: the right refusal, no harm, no information leaked. */
export const BAD_INPUT_PROMISES = [
  {
    id: "BAD-INPUT-ENVELOPE",
    says: "Every refusal, from any layer, is the contract's JSON error with a request id.",
  },
  { id: "BAD-INPUT-NO-EFFECT", says: "A refused request changes nothing and is never a 5xx." },
  { id: "BAD-INPUT-BROKEN-JSON", says: "A body that is not a JSON object is a 400 bad_request." },
  { id: "BAD-INPUT-CONTENT-TYPE", says: "A body of another type than JSON is a 415 unsupported_media_type." },
  {
    id: "BAD-INPUT-TOO-LARGE",
    says: "A body over 1 MiB is a 413 payload_too_large, with or without a Content-Length.",
  },
  { id: "BAD-INPUT-TOO-DEEP", says: "A body nested deeper than 64 is a 400." },
  { id: "BAD-INPUT-TOO-MANY-KEYS", says: "A body with more than 10,000 keys is a 400." },
  { id: "BAD-INPUT-LIMITS-ARE-SETTINGS", says: "Size, depth, keys and header limits are settings." },
  { id: "BAD-INPUT-PROTOTYPE", says: "__proto__, prototype and constructor as a name are a 400 anywhere in the body." },
  { id: "BAD-INPUT-UTF8", says: "A body that is not valid UTF-8 is a 400." },
  { id: "BAD-INPUT-SURROGATE", says: "A lone surrogate, in a value or a name, is a 400." },
  { id: "BAD-INPUT-NUMBER", says: "A number that would be rounded is refused, never stored as another number." },
  {
    id: "BAD-INPUT-UNKNOWN-MEMBER",
    says: "A member or parameter that the contract does not know is a 400 that names it.",
  },
  { id: "BAD-INPUT-HEADERS", says: "A header block over 16 KiB is a 431 headers_too_large." },
  { id: "BAD-INPUT-PATH", says: "An unknown path is a 404 not_found, a malformed one a 400." },
  { id: "BAD-INPUT-METHOD", says: "A method that a path does not support is a 405 that lists the supported ones." },
  { id: "BAD-INPUT-TOKEN-MALFORMED", says: "A truncated or mangled token is a 400 token_invalid." },
  { id: "BAD-INPUT-TOKEN-UNKNOWN", says: "A well-formed token that was never issued is a 404 token_invalid." },
  {
    id: "BAD-INPUT-TOKEN-ELSEWHERE",
    says: "A token of a submission other than the path's is a 404 with the same body as for a token that does not exist.",
  },
  { id: "BAD-INPUT-TOKENS-DISAGREE", says: "Two different tokens in one request are a 400 bad_request." },
  { id: "BAD-INPUT-LIMIT", says: "A limit outside 1 to 1,000 is a 400 on every list." },
  { id: "BAD-INPUT-TTL", says: "A ttlMs outside 1 minute to 1 year is a 400." },
  { id: "BAD-INPUT-SYSTEM-ACTOR", says: "No caller can be the system actor, however it is spelled." },
  {
    id: "BAD-INPUT-BAD-KEY",
    says: "An API key that is wrong, truncated or not a bearer token is a 401, even where no key is needed.",
  },
  {
    id: "BAD-INPUT-FOREIGN",
    says: "Something that belongs to another tenant gets the same response as something that does not exist.",
  },
] as const satisfies readonly ContractPromise[];
