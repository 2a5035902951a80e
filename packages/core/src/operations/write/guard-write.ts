import { sessionOverError } from "../../domain/handoffs/sessions.ts";
import type { Submission } from "../../domain/submission.ts";
import { endedError, tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import { refuseGivenUp, refuseLocked } from "../../domain/tokens/refuse-locked.ts";
import { refuseStaleToken } from "../../domain/tokens/refuse-stale-token.ts";
import { mayLearnCurrent } from "../../domain/tokens/token-status.ts";
import { isTerminal } from "../../domain/transitions.ts";
import { noteFailedUse, recordConflict, type Use } from "../audit/note-use.ts";
import { mayHoldToken } from "../identity/access.ts";
import { liveToken, tokenFor } from "../identity/held-token.ts";
import { tell } from "./refusals.ts";
import type { Attempt } from "./write-spec.ts";

/** Ended (410), stale (409), locked (409): in this order, so that a late writer learns the most basic reason. */
export async function refuseUnfit(attempt: Attempt<object>): Promise<void> {
  const { context, spec, found } = attempt;
  const { submission, now, token, session } = found;
  const ended = (spec.refuseEnded ?? endedError)(submission, now);
  const use = { ...attempt, caller: attempt.call.caller, operation: spec.operation };
  if (ended !== undefined) {
    const { state } = submission;
    if (isTerminal(state)) noteFailedUse(context, use, state);
    throw ended;
  }
  if (token?.status === "elapsed") {
    noteFailedUse(context, use, "ttl_elapsed");
    throw tokenOverError(token.row, submission, { reason: "ttl_elapsed", now });
  }
  if (session?.status === "elapsed") {
    noteFailedUse(context, use, "ttl_elapsed");
    const about = { submissionId: submission.submissionId, endedAt: session.session.expiresAt, now };
    throw sessionOverError(about, "ttl_elapsed");
  }
  await refuseStale(attempt, use);
  const locked = spec.actsOnLocked === true ? undefined : refuseLocked(submission);
  if (locked !== undefined) throw locked;
}

/** A submit repeated after the last delivery attempt failed reports that, rather than the recorded response. */
export function refuseFailedDelivery(
  { context, spec, found }: Attempt<object>,
  submission: Submission = found.submission,
): void {
  const failed = spec.keyed?.operation === "submit" ? refuseGivenUp(submission) : undefined;
  if (failed !== undefined) throw failed.withAbout(tell(context.deps, submission, tokenFor(context.deps, found)));
}

async function refuseStale({ context, call, spec, found }: Attempt<object>, use: Use): Promise<void> {
  const { submission, intake, token } = found;
  const holds = token?.status === "current" || mayHoldToken(found.principal, submission);
  const mayHold = holds || (token?.status === "stale" && mayLearnCurrent(submission, intake));
  // A session sees the current values, but never a token.
  const mayLearn = mayHold || found.session !== undefined;
  const stale = refuseStaleToken(
    submission,
    { ...(token && { token: token.row }), versions: call.target.versions },
    { intake, mayLearn, ...(spec.attempted && { attempted: spec.attempted }) },
  );
  if (stale === undefined) return;
  const attempted = Object.keys(spec.attempted ?? {});
  await recordConflict(context, use, { attemptedVersion: stale.detail.yourVersion ?? 0, attempted });
  const { deps } = context;
  throw stale.withAbout(tell(deps, submission, mayHold ? liveToken(deps, found) : undefined));
}
