import { ContractError } from "@formbridge/core";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface CookieOptions {
  publicUrl: string;
  /** TLS ends in front of us; without it we serve loopback only, where browsers want no `Secure`. */
  trustProxy: boolean;
}

export const SESSION_COOKIE = "formbridge_session";
const COOKIE = new RegExp(`(?:^|; *)${SESSION_COOKIE}=([^;\\s]*)`);

/** The cookie goes to the paths of its submission alone: a human may have several open. */
export function setSessionCookie(
  reply: FastifyReply,
  opened: { session: string; submissionId: string; ttlMs: number },
  { publicUrl, trustProxy }: CookieOptions,
): void {
  const folder = new URL(publicUrl).pathname.replace(/\/$/, "");
  const parts = [
    `${SESSION_COOKIE}=${opened.session}`,
    `Path=${folder}/submissions/${opened.submissionId}`,
    `Max-Age=${Math.max(0, Math.floor(opened.ttlMs / 1000))}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(trustProxy ? ["Secure"] : []),
  ];
  reply.header("set-cookie", parts.join("; "));
}

/** Does the browser say that a page of ours is calling? */
function isOurs(origin: string, request: FastifyRequest, { publicUrl, trustProxy }: CookieOptions): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, protocol } = new URL(origin);
  // Behind TLS, a page that came without it may be anybody's.
  const isSafe = !trustProxy || protocol === "https:";
  return origin === new URL(publicUrl).origin || (isSafe && host === request.headers.host);
}

/** A page of another origin must neither use a human's session nor slip one to them. */
export function refuseForeignOrigin(request: FastifyRequest, options: CookieOptions): void {
  const { origin } = request.headers;
  if (origin !== undefined && !isOurs(origin, request, options)) throw foreign();
}

const foreign = (): ContractError =>
  new ContractError("forbidden", "A session's cookie works from our own pages only: Origin is missing or foreign.");

/** The session in the cookie. A browser sends it unasked, so a write must also say by its Origin that a page of ours made it. */
export function sessionInCookie(request: FastifyRequest, options: CookieOptions): string | undefined {
  const session = COOKIE.exec(request.headers.cookie ?? "")?.[1];
  if (session === undefined) return undefined;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead && request.headers.origin === undefined) throw foreign();
  refuseForeignOrigin(request, options);
  return session;
}
