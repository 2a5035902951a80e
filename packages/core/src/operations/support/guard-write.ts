import type { ErrorAbout } from "../../domain/error.ts";
import { sessionOverError } from "../../domain/handoffs/sessions.ts";
import { toIso } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import { aboutOf, endedError, tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import { refuseLocked } from "../../domain/tokens/refuse-locked.ts";
import { refuseStaleToken } from "../../domain/tokens/refuse-stale-token.ts";
import { mayLearnCurrent } from "../../domain/tokens/standing.ts";
import { openToken } from "./open-snapshot.ts";
import { mayHoldToken, tokenFor } from "./resolve-target.ts";
import type { Attempt } from "./write-spec.ts";

/** What an error says of its submission; a token only when one is given here, for a caller who may hold it. */
export function tell(submission: Submission, token: string | undefined): ErrorAbout {
  if (token === undefined) return aboutOf(submission);
  return { ...aboutOf(submission), resumeToken: token, tokenExpiresAt: toIso(submission.token.expiresAt) };
}

/** Ended (410), stale (409), locked (409): in this order, so that a late writer learns the plainest reason. */
export function refuseUnfit(attempt: Attempt<object>): void {
  const { context, spec, found } = attempt;
  const { submission, now, token, session } = found;
  const ended = (spec.refuseEnded ?? endedError)(submission, now);
  if (ended !== undefined) throw ended;
  if (token?.standing === "elapsed") throw tokenOverError(token.row, submission, { reason: "ttl_elapsed", now });
  if (session?.standing === "elapsed") {
    const about = { submissionId: submission.submissionId, endedAt: session.session.expiresAt, now };
    throw sessionOverError(about, "ttl_elapsed");
  }
  refuseStale(attempt);
  const locked = spec.actsOnLocked === true ? undefined : refuseLocked(submission);
  if (locked !== undefined) throw locked.withAbout(tell(submission, tokenFor(context.deps, found)));
}

function refuseStale({ context, call, spec, found, actor }: Attempt<object>): void {
  const { submission, intake, token } = found;
  const holds = token?.standing === "current" || mayHoldToken(found.principal, submission);
  const mayHold = holds || (token?.standing === "stale" && mayLearnCurrent(submission, intake));
  // A session reads what is there, and never sees a token.
  const mayLearn = mayHold || found.session !== undefined;
  const stale = refuseStaleToken(
    submission,
    { ...(token && { tokenVersion: token.row.version }), versions: call.target.versions },
    { intake, mayLearn, ...(spec.attempted && { attempted: spec.attempted }) },
  );
  if (stale === undefined) return;
  context.auditTrail.note({
    type: "token.conflict",
    submission,
    by: actor,
    payload: {
      operation: spec.operation,
      attemptedVersion: stale.detail.yourVersion ?? 0,
      currentVersion: submission.version,
      rejectedFields: Object.keys(spec.attempted ?? {})
        .slice(0, 50)
        .map((name) => name.slice(0, 100)),
    },
    now: found.now,
  });
  const told = mayHold && !submission.tokensRevoked;
  throw stale.withAbout(tell(submission, told ? openToken(context.deps.sealer, found.snapshot) : undefined));
}
