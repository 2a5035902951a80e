import type { Actor, ErrorType } from "@formbridge/contract";
import type { DecideContext } from "../../domain/decide/decision.ts";
import { ContractError } from "../../domain/error.ts";
import { fingerprint } from "../../domain/idempotency/fingerprint.ts";
import { checkKeyFormat } from "../../domain/idempotency/key-format.ts";
import type { KeyRef } from "../../ports/store.ts";
import type { Target } from "../caller.ts";
import { recordedActor, sessionActor } from "./actors.ts";
import type { Answer } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { commitWrite } from "./commit-write.ts";
import type { Context } from "./context.ts";
import { expireIfDue } from "./expire-due.ts";
import { refuseUnfit, tell } from "./guard-write.ts";
import { enterLine, keyLocked, keyRef } from "./keyed.ts";
import { replayWrite, weigh } from "./replay-write.ts";
import { type Found, mayHoldToken, resolveTarget, type Seeker, tokenFor } from "./resolve-target.ts";
import { type Attempt, carriedVersion, type WriteAnswer, type WriteCall, type WriteSpec } from "./write-spec.ts";

const MAX_TRIES = 64;
const TELLS_NO_TOKEN: readonly ErrorType[] = ["token_expired", "expired", "cancelled", "not_found"];

/**
 * How every write on a submission walks: find it, compare what was named, look for a recorded answer, refuse what has ended,
 * is stale or locked, decide, commit. A commit that lost a race starts over on what is there now.
 */
export async function runWrite<Body extends object>(
  context: Context,
  call: WriteCall,
  spec: WriteSpec<Body>,
): Promise<Answer<Body>> {
  const principal = await authenticate(context.deps, call.caller);
  const ref = keyOf(call, spec);
  const inSession = call.caller.session !== undefined;
  if (call.target.tokens.length === 0 && principal === undefined && !inSession) throw tokenRequired();
  // Before anything is looked up; only a session has to be found to know whose it is.
  const known = inSession ? undefined : recordedActor(principal, call.actor, { required: spec.actorRequired });
  const seeker = { ...context, caller: call.caller, principal, target: call.target };
  const answer = await takeTurn({ context, call, spec }, { seeker, ref, known });
  return answer.later === undefined ? answer : await answer.later();
}

interface Turn<Body extends object> {
  context: Context;
  call: WriteCall;
  spec: WriteSpec<Body>;
}

/** Requests with one idempotency key take turns; the turn is over when the answer is recorded. */
async function takeTurn<Body extends object>(
  { context, call, spec }: Turn<Body>,
  { seeker, ref, known }: { seeker: Seeker; ref: KeyRef | undefined; known: Actor | undefined },
): Promise<WriteAnswer<Body>> {
  let leave: (() => void) | undefined;
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await resolveTarget(seeker, ref);
      checkAgreement(call.target);
      checkBasis(found, call, spec);
      const actor = known ?? actorInSession(found, call);
      const attempt: Attempt<Body> = { context, call, spec, found, actor, ...keyFor(ref, { found, call, spec }) };
      if (attempt.key !== undefined && found.record === undefined && leave === undefined) {
        // Look anew after the wait: the one before may have left an answer.
        leave = await enterLine(context.deps, found, attempt.key.ref);
        continue;
      }
      const answer = await attemptWrite(attempt);
      if (answer !== undefined) return answer;
    }
    throw keyLocked();
  } finally {
    leave?.();
  }
}

/** One try. Undefined: the ground moved, look again. */
async function attemptWrite<Body extends object>(attempt: Attempt<Body>): Promise<WriteAnswer<Body> | undefined> {
  const { context, spec, found, actor } = attempt;
  const { deps } = context;
  const { record, submission, now, intake } = found;
  // What was answered before an erasure is answered to nobody.
  const isGuarded = record !== undefined && attempt.key !== undefined && submission.erasedAt === undefined;
  if (isGuarded && weigh(attempt, record) === "replay") return await replayWrite(attempt, record);
  if (await expireIfDue(deps, found)) return undefined;
  refuseUnfit(attempt);
  const decideContext: DecideContext = {
    now,
    actor,
    provenHuman: (found.session?.session ?? found.principal)?.actor.kind === "human",
    intake,
    policy: deps.settings.policy,
    newId: (prefix) => deps.random.newId(prefix),
  };
  const decision = await spec.decide(submission, decideContext, found);
  if (decision.refusal !== undefined && decision.events.length === 0) {
    const { refusal } = decision;
    throw TELLS_NO_TOKEN.includes(refusal.type) ? refusal : refusal.withAbout(tell(submission, tokenFor(deps, found)));
  }
  return await commitWrite(attempt, decision, isGuarded ? record.fingerprint : undefined);
}

const tokenRequired = (): ContractError =>
  new ContractError("token_required", "A write needs a resume token: in the path, as If-Match, or in the body.");
const versionRequired = (): ContractError =>
  new ContractError(
    "token_required",
    'In a session, a write names the version it was made on: If-Match: "42" or version.',
  );

function actorInSession({ session }: Found, call: WriteCall): Actor {
  if (session === undefined) throw new Error("a caller without a session was found by one");
  return sessionActor(session.session, call.actor);
}

function keyOf<Body extends object>(call: WriteCall, spec: WriteSpec<Body>): KeyRef | undefined {
  if (spec.keyed === undefined || call.idempotencyKey === undefined) return undefined;
  checkKeyFormat(call.idempotencyKey, { anonymous: false });
  return keyRef(spec.keyed.operation, call.idempotencyKey);
}

/** An intake may switch keys off for everything but submit, where they are required. */
function keyFor<Body extends object>(
  ref: KeyRef | undefined,
  { found, call, spec }: { found: Found; call: WriteCall; spec: WriteSpec<Body> },
): Pick<Attempt<Body>, "key"> {
  if (ref === undefined || spec.keyed === undefined) return {};
  if (ref.operation !== "submit" && found.intake.definition.idempotency?.enabled === false) return {};
  return { key: { ref, fingerprint: fingerprint(spec.keyed.meaning(found, carriedVersion({ found, call }))) } };
}

function checkAgreement(target: Target): void {
  if (new Set(target.tokens).size > 1) {
    throw new ContractError("bad_request", "The resume tokens in path, If-Match and body are not the same.");
  }
}

/** Without a token, a key or session writes by naming the version it has seen; some operations need no version. */
function checkBasis<Body extends object>(found: Found, call: WriteCall, spec: WriteSpec<Body>): void {
  spec.authorize?.(found);
  if (found.session !== undefined) {
    if (call.target.versions.length === 0) throw versionRequired();
    return;
  }
  if (found.token !== undefined || spec.needsNoVersion === true) return;
  if (!mayHoldToken(found.principal, found.submission)) {
    throw new ContractError("forbidden", "This key may read the submission, not write to it.");
  }
  if (call.target.versions.length === 0) throw tokenRequired();
}
