import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { cutSecrets } from "@formbridge/contract";

/**
 * On every response: no framing, sniffing, caching or referrer, and CORS for any origin without browser credentials. Constants, so
 * they cost nothing per request.
 */
export const EVERY_ANSWER = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
};

/** Response headers that pages of other origins may read. */
export const FOR_OTHER_ORIGINS = {
  "access-control-expose-headers":
    "ETag, Content-Type, Content-Disposition, Last-Modified, Location, Upload-Offset, Upload-Length, Tus-Resumable, Retry-After, X-Resume-Token, X-Intake-Version, X-Submission-Version, X-Request-Id, " +
    "X-Original-Request-Time, X-Next-Event-Id, Idempotent-Replayed, RateLimit, RateLimit-Policy",
};

/** Additional headers of a preflight response. */
export const PREFLIGHT = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Prefer, " +
    "X-Intake-Version, X-Idempotency-TTL, X-Request-Id, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset",
  "access-control-max-age": "86400",
};

/** Behind a TLS proxy: browsers must use TLS from then on. */
export const TLS_ONLY = { "strict-transport-security": "max-age=31536000; includeSubDomains" };

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Shorter idempotency keys aren't secret, and could be part of a request id by chance. */
const LONG_KEY = 16;

const showsKey = (id: string, key: unknown): boolean =>
  typeof key === "string" && (id === key || (key.length >= LONG_KEY && id.includes(key)));

/** The caller's request id if it is safe to log, otherwise a generated one. Without an API key, an idempotency key opens its submission. */
export function requestId(request?: IncomingMessage): string {
  const { "x-request-id": given, "idempotency-key": key } = request?.headers ?? {};
  const isSafe =
    typeof given === "string" && SAFE_REQUEST_ID.test(given) && cutSecrets(given) === given && !showsKey(given, key);
  return isSafe ? given : `req_${randomUUID()}`;
}

/** The caller's program, for the log and events. */
export function userAgentOf({ "user-agent": given }: IncomingHttpHeaders): { userAgent?: string } {
  return given === undefined ? {} : { userAgent: cutSecrets(given) };
}
