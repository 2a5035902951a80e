import { ContractError } from "@formbridge/core";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface CookieOptions {
  publicUrl: string;
  /** A TLS proxy is in front. Without one we serve loopback only, over plain HTTP, where a `Secure` cookie would be dropped. */
  trustProxy: boolean;
}

export const SESSION_COOKIE = "formbridge_session";

/** Scoped to the submission's path, because a person may have several submissions open. */
export function setSessionCookie(
  reply: FastifyReply,
  opened: { session: string; submissionId: string; ttlMs: number },
  { publicUrl, trustProxy }: CookieOptions,
): void {
  const folder = new URL(publicUrl).pathname.replace(/\/$/, "");
  const cookie = stringifySetCookie({
    name: SESSION_COOKIE,
    value: opened.session,
    path: `${folder}/submissions/${opened.submissionId}`,
    maxAge: Math.max(0, Math.floor(opened.ttlMs / 1000)),
    httpOnly: true,
    sameSite: "strict",
    secure: trustProxy,
  });
  reply.header("set-cookie", cookie);
}

/** Whether the request comes from one of our own pages. */
function isOwnOrigin(origin: string, request: FastifyRequest, { publicUrl, trustProxy }: CookieOptions): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, protocol } = new URL(origin);
  // Behind TLS, a page loaded over plain HTTP may have been tampered with.
  const isSafe = !trustProxy || protocol === "https:";
  return origin === new URL(publicUrl).origin || (isSafe && host === request.headers.host);
}

/** Keeps other sites from using a person's session, and from planting one in their browser. */
export function refuseForeignOrigin(request: FastifyRequest, options: CookieOptions): void {
  const { origin } = request.headers;
  if (origin !== undefined && !isOwnOrigin(origin, request, options)) throw foreignOrigin();
}

const foreignOrigin = (): ContractError =>
  new ContractError(
    "forbidden",
    "A session cookie only works from the server's own pages: Origin is missing or different.",
  );

/** Browsers attach cookies to cross-site requests too, so a write also needs an `Origin` of ours (CSRF). */
export function sessionInCookie(request: FastifyRequest, options: CookieOptions): string | undefined {
  const session = parseCookie(request.headers.cookie ?? "")[SESSION_COOKIE];
  if (session === undefined) return undefined;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead && request.headers.origin === undefined) throw foreignOrigin();
  refuseForeignOrigin(request, options);
  return session;
}
