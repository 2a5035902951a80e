import type { Role } from "@formbridge/contract";
import type { Tool } from "./tool.ts";

/** What a caller can use. Tools whose every call would be refused are not listed. */
export interface Audience {
  writes: boolean;
  reviews: boolean;
  /** Without an API key or session, only the resume token opens a submission; an id doesn't. */
  needsToken: boolean;
}

export interface Credentials {
  /** Absent without an API key. */
  roles: readonly Role[] | undefined;
  hasSession: boolean;
}

/** Without an API key a caller can still create submissions where that is public, and write with a token. */
export function audienceOf({ roles, hasSession }: Credentials): Audience {
  if (roles === undefined) return { writes: true, reviews: false, needsToken: !hasSession };
  const has = (...wanted: Role[]): boolean => wanted.some((role) => roles.includes(role));
  return { writes: has("agent", "admin"), reviews: has("reviewer", "admin"), needsToken: false };
}

export function isFor(tool: Tool, { writes, reviews }: Audience): boolean {
  if (tool.audience === "reviewers") return reviews;
  return tool.annotations.readOnlyHint || writes;
}

/** A cache key. */
export const keyOf = ({ writes, reviews, needsToken }: Audience): string =>
  [writes && "writes", reviews && "reviews", needsToken && "token"].filter(Boolean).join(" ");
