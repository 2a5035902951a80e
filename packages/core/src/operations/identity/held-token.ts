import { hasLapsed } from "../../domain/tokens/token-status.ts";
import type { Deps } from "../deps.ts";
import { openToken } from "../read/open-snapshot.ts";
import type { Held } from "../read/response.ts";
import { mayHoldToken } from "./access.ts";
import type { Found, RefusedTarget } from "./resolve-target.ts";

/** The current token in clear, if this caller may hold it: it presented it, or its API key may. */
export function tokenFor(deps: Deps, found: RefusedTarget): string | undefined {
  if (found.token?.status === "current" && found.submission.state !== "expired") return found.token.text;
  return mayHoldToken(found.principal, found.submission) ? liveToken(deps, found) : undefined;
}

/** What this caller learns about the current token. */
export function heldBy(deps: Deps, found: Found): Held {
  const { submission, now, principal } = found;
  const token = tokenFor(deps, found);
  if (token !== undefined) return { token };
  const { policy } = deps.settings;
  const lapsed =
    mayHoldToken(principal, submission) && !submission.tokensRevoked && hasLapsed(submission, { now, policy });
  return lapsed ? { lapsed } : {};
}

/**
 * The current token in clear, unless it is no longer given out: it was revoked, has lapsed, or its submission has
 * expired.
 */
export function liveToken(
  { sealer, settings: { policy } }: Deps,
  { submission, snapshot, now }: Pick<Found, "submission" | "snapshot" | "now">,
): string | undefined {
  const isOver = submission.tokensRevoked || submission.state === "expired" || hasLapsed(submission, { now, policy });
  return isOver ? undefined : openToken(sealer, snapshot);
}
