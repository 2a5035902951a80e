import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** An API has nothing to frame, sniff, cache or refer to. Constant, so that a request does not pay for computing them. */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** What a page of another origin may send, and read in the answer. */
export const CORS = {
  origin: "*",
  methods: "GET, POST, PUT, PATCH, DELETE",
  allowedHeaders:
    "Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Prefer, " +
    "X-Intake-Version, X-Idempotency-TTL, X-Request-Id",
  exposedHeaders:
    "ETag, Content-Type, Last-Modified, Retry-After, X-Resume-Token, X-Intake-Version, X-Submission-Version, X-Request-Id, " +
    "X-Original-Request-Time, X-Next-Event-Id, Idempotent-Replayed, RateLimit, RateLimit-Policy",
  maxAge: 86_400,
  strictPreflight: false,
};

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's request id when it is a plain word, otherwise one of ours. */
export function requestId(request?: IncomingMessage): string {
  const given = request?.headers["x-request-id"];
  return typeof given === "string" && SAFE_REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
}
