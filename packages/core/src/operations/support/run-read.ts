import { ContractError } from "../../domain/error.ts";
import { sessionOverError } from "../../domain/handoffs/sessions.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import { endedError, tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import { refuseStaleToken } from "../../domain/tokens/refuse-stale-token.ts";
import { mayLearnCurrent, readsInGrace } from "../../domain/tokens/standing.ts";
import { isTerminal } from "../../domain/transitions.ts";
import type { Caller, Target } from "../caller.ts";
import { authenticate } from "./authenticate.ts";
import type { Context } from "./context.ts";
import { expireIfDue } from "./expire-due.ts";
import { tell } from "./guard-write.ts";
import { openToken } from "./open-snapshot.ts";
import { credentialsNeeded, type Found, resolveTarget, tokenFor } from "./resolve-target.ts";

export interface ReadCall {
  caller: Caller;
  target: Target;
}

/** What a reader may see: everything, the values with the sensitive ones masked, or the state alone. */
export type Sight = "all" | "masked" | "state";

export interface Readable extends Found {
  readToken?: string;
  sight: Sight;
}

const MAX_TRIES = 8;

/** Finds what a read names. A stale token reads for a short while after its rotation, then it is a 409. */
export async function runRead(context: Context, call: ReadCall, operation: string): Promise<Readable> {
  const { deps } = context;
  const principal = await authenticate(deps, call.caller);
  const isNobody = principal === undefined && call.caller.session === undefined;
  if (call.target.tokens.length === 0 && isNobody) throw credentialsNeeded();
  const seeker = { ...context, caller: call.caller, principal, target: call.target };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = await resolveTarget(seeker);
    if (await expireIfDue(deps, found)) continue;
    const readable = readableBy(context, found, operation);
    noteAccess(context, found, operation);
    return readable;
  }
  throw new ContractError("service_unavailable", "The submission changes too fast to be read.", { retryAfterMs: 100 });
}

/**
 * May a reader who was let in go on? Not when what let it in was revoked or is over. A rotated token is neither, and the end of
 * the submission is still told.
 */
export async function stillReads(context: Context, { caller, target }: ReadCall): Promise<boolean> {
  try {
    const principal = await authenticate(context.deps, caller);
    const { token, session, submission } = await resolveTarget({ ...context, caller, principal, target });
    return isTerminal(submission.state) || (token?.standing !== "elapsed" && session?.standing !== "elapsed");
  } catch (error) {
    if (error instanceof ContractError) return false;
    throw error;
  }
}

function noteAccess({ auditTrail }: Context, found: Found, operation: string): void {
  const { token, session, principal, submission, now } = found;
  if (token === undefined && session === undefined) return;
  const bearer = principal?.actor ?? { kind: "agent", id: "token_bearer", declared: true };
  auditTrail.note({
    type: "token.accessed",
    submission,
    by: session?.session.actor ?? bearer,
    payload: { operation, ...(session && { handoffId: session.handoff.handoffId }) },
    now,
  });
}

/** Whoever filled a form in may see what became of it, as long as the session lives. */
function readableInSession(found: Found, { session, standing }: NonNullable<Found["session"]>): Readable {
  const { submission, now } = found;
  refuseExpired(submission, now);
  if (standing === "elapsed") {
    const about = { submissionId: submission.submissionId, endedAt: session.expiresAt, now };
    throw sessionOverError(about, "ttl_elapsed");
  }
  return { ...found, sight: "all" };
}

function refuseExpired(submission: Submission, now: Instant): void {
  const expired = submission.state === "expired" ? endedError(submission, now) : undefined;
  if (expired !== undefined) throw expired;
}

function readableBy(context: Context, found: Found, operation: string): Readable {
  const { deps } = context;
  const { submission, token, now, intake } = found;
  const { policy } = deps.settings;
  if (found.session !== undefined) return readableInSession(found, found.session);
  const own = tokenFor(deps, found);
  if (token === undefined) return { ...found, sight: "all", ...(own !== undefined && { readToken: own }) };
  refuseExpired(submission, now);
  if (token.standing === "elapsed") throw tokenOverError(token.row, submission, { reason: "ttl_elapsed", now });
  if (token.standing === "current") return { ...found, sight: "all", readToken: token.text };
  const mayLearn = mayLearnCurrent(submission, intake);
  const current = own ?? (mayLearn ? openToken(deps.sealer, found.snapshot) : undefined);
  if (readsInGrace(token.row, { now, policy })) {
    // A late reader learns what a late writer's 409 would tell, no more.
    const sight = own !== undefined ? "all" : mayLearn ? "masked" : "state";
    return { ...found, sight, ...(current !== undefined && { readToken: current }) };
  }
  const stale = refuseStaleToken(submission, { tokenVersion: token.row.version, versions: [] }, { intake, mayLearn });
  if (stale === undefined) throw new Error(`a stale token reads as current in ${operation}`);
  throw stale.withAbout(tell(submission, current));
}
