import type { Caller, Target } from "@formbridge/core";
import { ContractError } from "@formbridge/core";
import type { FastifyRequest } from "fastify";
import { userAgentOf } from "../headers.ts";
import type { Parsed } from "../route.ts";
import { type CookieOptions, sessionInCookie } from "../session-cookie.ts";
import { parseIfMatch, parseIfNoneMatch } from "./if-match.ts";

export interface RequestOptions extends CookieOptions {
  allowTestHeaders: boolean;
}

/** A header that may be sent only once. */
function single(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

const SESSION_PREFIX = "sess_";

/** An explicit credential takes precedence: the cookie, which a browser adds automatically, is used only without one. */
function callerOf(request: FastifyRequest, { tokens }: Target, options: RequestOptions): Caller {
  const client = clientOf(request);
  if (single(request, "authorization") === undefined) {
    const session = tokens.length > 0 ? undefined : sessionInCookie(request, options);
    return session === undefined ? client : { ...client, session };
  }
  return { ...client, ...credentialOf(request) };
}

/** The client's address and user agent. */
export function clientOf(
  request: FastifyRequest,
): Pick<Caller, "address" | "userAgent" | "country" | "traceparent" | "facts"> {
  const traceparent = single(request, "traceparent");
  const { ip: address, facts, country } = request;
  return {
    address,
    ...(country !== undefined && { country }),
    ...userAgentOf(request.headers),
    ...(traceparent !== undefined && { traceparent }),
    ...(facts && { facts }),
  };
}

/** The credential in the Authorization header: an API key, an access token or a session. */
export function credentialOf(request: FastifyRequest): Pick<Caller, "apiKey" | "session"> {
  const header = single(request, "authorization");
  if (header === undefined) return {};
  const secret = /^Bearer +(\S+)$/i.exec(header)?.[1];
  if (secret === undefined)
    throw new ContractError("unauthorized", "Authorization must be: Bearer fbk_…, or Bearer and a JWT.");
  return secret.startsWith(SESSION_PREFIX) ? { session: secret } : { apiKey: secret };
}

const TOKEN_PREFIX = "rtok_";

/** The submission named by path, headers and body. `/submissions/{rtok_…}` is the same as `/resume/{rtok_…}`. */
function targetOf(request: FastifyRequest, params: Record<string, string>, body: Record<string, unknown>): Target {
  const { ref, token } = params;
  const isLink = request.routeOptions.url?.startsWith("/resume") === true;
  const byToken = ref !== undefined && token === undefined && (isLink || ref.startsWith(TOKEN_PREFIX));
  const inQuery = isLink ? (request.query as { token?: string }).token : undefined;
  const isWrite = request.method !== "GET" && request.method !== "HEAD";
  const condition = isWrite ? parseIfMatch(single(request, "if-match")) : {};
  const given = [byToken ? ref : token, inQuery, condition.token, body.resumeToken as string | undefined];
  const tokens = [...new Set(given.filter((token) => token !== undefined))];
  const versions = [condition.version, versionHeader(request, isWrite), body.version as number | undefined];
  const id = byToken ? (body.submissionId as string | undefined) : ref;
  // On a path without a submission, `submissionId` may be an ordinary argument.
  if (ref !== undefined && !byToken && body.submissionId !== undefined && body.submissionId !== ref) {
    throw new ContractError("bad_request", "submissionId is not the id of the path.");
  }
  return {
    tokens,
    versions: versions.filter((version) => version !== undefined),
    ...(id !== undefined && { submissionId: id }),
  };
}

function versionHeader(request: FastifyRequest, isWrite: boolean): number | undefined {
  const text = isWrite ? single(request, "x-intake-version") : undefined;
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new ContractError("bad_request", "X-Intake-Version must be a whole number.");
  return Number(text);
}

function keyOf(request: FastifyRequest, body: Record<string, unknown>): string | undefined {
  return single(request, "idempotency-key") ?? (body.idempotencyKey as string | undefined);
}

function keyTtlOf(request: FastifyRequest, { allowTestHeaders }: RequestOptions): number | undefined {
  const text = allowTestHeaders ? single(request, "x-idempotency-ttl") : undefined;
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text))
    throw new ContractError("bad_request", "X-Idempotency-TTL must be a number of milliseconds.");
  return Number(text);
}

/** `Prefer: wait=10`, in seconds (RFC 7240). An invalid preference is ignored. */
function waitOf(request: FastifyRequest): number | undefined {
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(single(request, "prefer") ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Collects what a request contains, from all the places that the contract allows. */
export function parseRequest(
  request: FastifyRequest,
  { body, options }: { body: Record<string, unknown>; options: RequestOptions },
): Parsed {
  const params = request.params as Record<string, string>;
  const idempotencyKey = keyOf(request, body);
  const idempotencyTtlMs = keyTtlOf(request, options);
  const waitMs = waitOf(request);
  const target = targetOf(request, params, body);
  const ifNoneMatch = parseIfNoneMatch(single(request, "if-none-match"));
  return {
    caller: callerOf(request, target, options),
    params,
    body,
    query: request.query as Record<string, unknown>,
    target,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(idempotencyTtlMs !== undefined && { idempotencyTtlMs }),
    ...(waitMs !== undefined && { waitMs }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
  };
}
