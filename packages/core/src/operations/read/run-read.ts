import { ContractError } from "../../domain/error.ts";
import { sessionOverError } from "../../domain/handoffs/sessions.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { FailedUse } from "../../domain/tokens/audit-payloads.ts";
import { endedError, tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import { refuseStaleToken } from "../../domain/tokens/refuse-stale-token.ts";
import { mayLearnCurrent, readsInGrace } from "../../domain/tokens/token-status.ts";
import { isTerminal } from "../../domain/transitions.ts";
import { noteFailedUse, noteRead, type Presented, recordConflict, type Use } from "../audit/note-use.ts";
import type { Caller, Target } from "../caller.ts";
import type { Context } from "../context.ts";
import { mayHoldToken } from "../identity/access.ts";
import { authenticate } from "../identity/authenticate.ts";
import { heldBy, liveToken } from "../identity/held-token.ts";
import { credentialsNeeded, type Found, resolveTarget, type TargetLookup } from "../identity/resolve-target.ts";
import { expireIfDue, lapseIfDue } from "../write/expire-due.ts";
import { resolveTold, tell, telling, tooFast } from "../write/refusals.ts";
import type { Held } from "./response.ts";

export interface ReadCall {
  caller: Caller;
  target: Target;
}

/** What a reader may see: everything, the values with sensitive ones masked, or only the state. */
export type Sight = "all" | "masked" | "state";

export interface Readable extends Found {
  held: Held;
  sight: Sight;
}

export interface ReadSpec<T> {
  operation: string;
  /** Builds the result. A refusal thrown here includes the submission's state like any other. */
  use(found: Readable): T | Promise<T>;
}

const MAX_TRIES = 8;

/** Finds what a read names. A stale token can read for a short time after its rotation, then it is a 409. */
export async function runRead<T>(context: Context, call: ReadCall, { operation, use }: ReadSpec<T>): Promise<T> {
  const { deps } = context;
  const principal = await authenticate(deps, call.caller);
  const isNobody = principal === undefined && call.caller.session === undefined;
  if (call.target.tokens.length === 0 && isNobody) throw credentialsNeeded();
  const used = (found: Presented) => ({ caller: call.caller, operation, found });
  const onRefused: TargetLookup["onRefused"] = (presented, reason) => noteFailedUse(context, used(presented), reason);
  const lookup = { ...context, caller: call.caller, principal, target: call.target, onRefused };
  for (let tries = 1; ; tries++) {
    const found = await resolveTold(context, lookup);
    const hasMoved = (await expireIfDue(deps, found)) || (await lapseIfDue(deps, found));
    if (hasMoved && tries < MAX_TRIES) continue;
    return await telling(context, found, async () => {
      if (hasMoved) throw tooFast();
      const readable = asSeen(await readableBy(context, used(found), found));
      await noteRead(context, used(found));
      return await use(readable);
    });
  }
}

/**
 * A look between two reads of one call, which isn't recorded. Undefined if a read would be refused; the read then says
 * why.
 */
export async function peek(context: Context, { caller, target }: ReadCall): Promise<Submission | undefined> {
  try {
    const principal = await authenticate(context.deps, caller);
    const found = await resolveTarget({ ...context, caller, principal, target });
    return (await expireIfDue(context.deps, found)) ? undefined : found.submission;
  } catch (error) {
    if (error instanceof ContractError) return undefined;
    throw error;
  }
}

/**
 * Whether a reader may continue: not if its credential was revoked or has ended. A rotated token is fine, and the
 * submission's end is still reported.
 */
export async function stillReads(context: Context, { caller, target }: ReadCall): Promise<boolean> {
  try {
    const principal = await authenticate(context.deps, caller);
    const { token, session, submission } = await resolveTarget({ ...context, caller, principal, target });
    return isTerminal(submission.state) || (token?.status !== "elapsed" && session?.status !== "elapsed");
  } catch (error) {
    if (error instanceof ContractError) return false;
    throw error;
  }
}

const asSeen = (readable: Readable): Readable =>
  readable.masked && readable.sight === "all" ? { ...readable, sight: "masked" } : readable;

/** A person who filled in a form may see its outcome, as long as the session lasts. */
function readableInSession(
  found: Found,
  { session, status }: NonNullable<Found["session"]>,
  failed: (reason: FailedUse) => void,
): Readable {
  const { submission, now } = found;
  refuseExpired(submission, { now, failed });
  if (status === "elapsed") {
    failed("ttl_elapsed");
    const about = { submissionId: submission.submissionId, endedAt: session.expiresAt, now };
    throw sessionOverError(about, "ttl_elapsed");
  }
  return { ...found, sight: "all", held: {} };
}

function refuseExpired(
  submission: Submission,
  { now, failed }: { now: Instant; failed: (reason: FailedUse) => void },
): void {
  const expired = submission.state === "expired" ? endedError(submission, now) : undefined;
  if (expired === undefined) return;
  failed("expired");
  throw expired;
}

async function readableBy(context: Context, use: Use, found: Found): Promise<Readable> {
  const { deps } = context;
  const failed = (reason: FailedUse): void => noteFailedUse(context, use, reason);
  const { submission, token, now, intake } = found;
  const { policy } = deps.settings;
  if (found.session !== undefined) return readableInSession(found, found.session, failed);
  const own = heldBy(deps, found);
  if (token === undefined) return { ...found, sight: "all", held: own };
  refuseExpired(submission, { now, failed });
  if (token.status === "elapsed") {
    failed("ttl_elapsed");
    throw tokenOverError(token.row, submission, { reason: "ttl_elapsed", now });
  }
  if (token.status === "current") return { ...found, sight: "all", held: { token: token.text } };
  const mayLearn = mayLearnCurrent(submission, intake);
  const current = own.token ?? (mayLearn ? liveToken(deps, found) : undefined);
  if (readsInGrace(token.row, { now, policy })) {
    // The reader with a stale token learns what a stale writer's 409 would say, no more.
    const sight = mayHoldToken(found.principal, submission) ? "all" : mayLearn ? "masked" : "state";
    return { ...found, sight, held: current === undefined ? own : { token: current } };
  }
  const stale = refuseStaleToken(submission, { token: token.row, versions: [] }, { intake, mayLearn });
  if (stale === undefined) throw new Error(`a stale token reads as current in ${use.operation}`);
  await recordConflict(context, use, { attemptedVersion: token.row.version, attempted: [] });
  throw stale.withAbout(tell(deps, submission, current));
}
