import type { Actor } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import { fingerprint } from "../../domain/idempotency/fingerprint.ts";
import { checkKeyFormat } from "../../domain/idempotency/key-format.ts";
import type { KeyRef } from "../../domain/idempotency/key-record.ts";
import { noteFailedUse } from "../audit/note-use.ts";
import type { Principal, Target } from "../caller.ts";
import type { Context } from "../context.ts";
import { createKeyLock } from "../idempotency/key-lock.ts";
import { keyLocked, keyRef } from "../idempotency/keyed.ts";
import { noteContention } from "../idempotency/note-contention.ts";
import { replayWrite, weigh } from "../idempotency/replay-write.ts";
import { requireWriter } from "../identity/access.ts";
import { recordedActor, sessionActor } from "../identity/actors.ts";
import { authenticate } from "../identity/authenticate.ts";
import type { Found, TargetLookup } from "../identity/resolve-target.ts";
import type { OperationResponse } from "../read/response.ts";
import { commitWrite } from "./commit-write.ts";
import { decideContextOf } from "./decide-context.ts";
import { expireIfDue, lapseIfDue } from "./expire-due.ts";
import { refuseFailedDelivery, refuseUnfit } from "./guard-write.ts";
import { resolveTold, telling } from "./refusals.ts";
import { type Attempt, carriedVersion, type WriteCall, type WriteResponse, type WriteSpec } from "./write-spec.ts";

const MAX_TRIES = 64;

/**
 * The course of every write on a submission: find it, compare what was named, look for a recorded response, refuse if
 * it has ended, is stale or locked, decide, commit. A commit that lost a race starts over on the current state.
 */
export async function runWrite<Body extends object>(
  context: Context,
  call: WriteCall,
  spec: WriteSpec<Body>,
): Promise<OperationResponse<Body>> {
  const principal = await authenticate(context.deps, call.caller);
  const ref = keyOf(call, spec);
  const inSession = call.caller.session !== undefined;
  if (call.target.tokens.length === 0 && principal === undefined && !inSession) throw tokenRequired();
  // Refuse what is malformed before looking anything up; only a session has to be loaded to know its actor.
  const known = inSession ? undefined : actorOf(principal, call, spec);
  const actor = known instanceof ContractError ? principal?.actor : known;
  const onRefused: TargetLookup["onRefused"] = (found, reason) =>
    noteFailedUse(context, { caller: call.caller, operation: spec.operation, found, ...(actor && { actor }) }, reason);
  const lookup = { ...context, caller: call.caller, principal, target: call.target, onRefused };
  const answer = await takeTurn({ context, call, spec }, { lookup, ref, known });
  return answer.later === undefined ? answer : await answer.later();
}

interface Turn<Body extends object> {
  context: Context;
  call: WriteCall;
  spec: WriteSpec<Body>;
}

/** Requests with the same idempotency key take turns; a turn ends when the response is recorded. */
async function takeTurn<Body extends object>(
  { context, call, spec }: Turn<Body>,
  { lookup, ref, known }: { lookup: TargetLookup; ref: KeyRef | undefined; known: Actor | ContractError | undefined },
): Promise<WriteResponse<Body>> {
  const lock = createKeyLock(context.deps);
  let attempted: Attempt<Body> | undefined;
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await resolveTold(context, lookup, ref);
      const answer = await telling(context, found, async () => {
        if (known instanceof ContractError) throw known;
        checkAgreement(call.target);
        checkBasis(found, call, spec);
        const actor = known ?? actorInSession(found, call);
        const attempt: Attempt<Body> = { context, call, spec, found, actor, ...keyFor(ref, { found, call, spec }) };
        attempted = attempt;
        noteAttempt(attempt);
        if (found.record !== undefined) lock.release();
        else if (attempt.key !== undefined && !lock.isHeld()) {
          // Check again after the wait: the previous request may have left a record.
          const { tenant, intakeId } = found.submission;
          await lock.acquire({ ...attempt.key.ref, tenant, intakeId });
          return undefined;
        }
        const write = () => attemptWrite(attempt);
        return await (attempt.key === undefined ? write() : lock.unlessHeld(write));
      });
      if (answer !== undefined) return answer;
    }
    if (attempted === undefined) throw keyLocked();
    return await telling(context, attempted.found, () => {
      throw keyLocked();
    });
  } finally {
    lock.release();
    if (ref !== undefined && attempted !== undefined) {
      const { found, actor } = attempted;
      noteContention(context, lock, { ...found, ref, by: actor });
    }
  }
}

function noteAttempt({ context, found, actor, key }: Attempt<object>): void {
  const { facts, deps } = context;
  facts.actor = { kind: actor.kind, id: actor.id };
  if (key === undefined) return;
  facts.key = key.ref;
  const measured = { ...key.ref, intakeId: found.submission.intakeId };
  deps.instrumentation.record({ name: "key_looked_up", key: measured, hit: found.record !== undefined });
}

/** One try. Undefined if the submission changed meanwhile: load again. */
async function attemptWrite<Body extends object>(attempt: Attempt<Body>): Promise<WriteResponse<Body> | undefined> {
  const { context, spec, found, actor } = attempt;
  const { deps } = context;
  const { record, submission, now, intake } = found;
  // Responses from before an erasure aren't replayed.
  const isGuarded = record !== undefined && attempt.key !== undefined && submission.erasedAt === undefined;
  if (isGuarded && (await weigh(attempt, record)) === "replay") {
    refuseFailedDelivery(attempt);
    return await replayWrite(attempt, record);
  }
  if ((await expireIfDue(deps, found)) || (await lapseIfDue(deps, found))) return undefined;
  await refuseUnfit(attempt);
  const decideContext = decideContextOf(deps, { now, actor, intake });
  const decision = await spec.decide(submission, decideContext, found);
  if (decision.refusal !== undefined && decision.events.length === 0) throw decision.refusal;
  return await commitWrite(attempt, decision, isGuarded ? record.fingerprint : undefined);
}

const tokenRequired = (): ContractError =>
  new ContractError(
    "token_required",
    "A write needs the current resumeToken. A key that may hold it can send the version instead.",
    {
      nextActions: [
        {
          action: "fetch_current_state",
          hint: "Send the resumeToken of the latest response. With a key that may hold it, you can read the submission by id to get it.",
        },
      ],
    },
  );
const versionRequired = (): ContractError =>
  new ContractError("token_required", "A write in a session must name the version it is based on. Send version.");

/** Naming someone else is refused only once the submission is found, so that the refusal can include its state. */
function actorOf(
  principal: Principal | undefined,
  { actor }: WriteCall,
  { actorRequired: required }: Pick<WriteSpec<object>, "actorRequired">,
): Actor | ContractError {
  try {
    return recordedActor(principal, actor, { required });
  } catch (error) {
    if (error instanceof ContractError && error.type === "forbidden") return error;
    throw error;
  }
}

function actorInSession({ session }: Found, call: WriteCall): Actor {
  if (session === undefined) throw new Error("a caller without a session was found by one");
  return sessionActor(session.session, call.actor);
}

function keyOf<Body extends object>(call: WriteCall, spec: WriteSpec<Body>): KeyRef | undefined {
  if (spec.keyed === undefined || call.idempotencyKey === undefined) return undefined;
  // Whether other operations check the key is up to the intake.
  if (spec.keyed.operation === "submit") checkKeyFormat(call.idempotencyKey, { anonymous: false });
  return keyRef(spec.keyed.operation, call.idempotencyKey);
}

/** An intake may disable idempotency keys for everything but submit, where they are required; they are then ignored. */
function keyFor<Body extends object>(
  ref: KeyRef | undefined,
  { found, call, spec }: { found: Found; call: WriteCall; spec: WriteSpec<Body> },
): Pick<Attempt<Body>, "key"> {
  if (ref === undefined || spec.keyed === undefined) return {};
  if (ref.operation !== "submit") {
    if (found.intake.definition.idempotency?.enabled === false) return {};
    checkKeyFormat(call.idempotencyKey ?? "", { anonymous: false });
  }
  return { key: { ref, fingerprint: fingerprint(spec.keyed.meaning(found, carriedVersion({ found, call }))) } };
}

function checkAgreement(target: Target): void {
  if (new Set(target.tokens).size > 1) {
    throw new ContractError("bad_request", "The call contains different resume tokens. Send only one.");
  }
}

/** Without a token, an API key or session names the version it has seen; some operations need none. */
function checkBasis<Body extends object>(found: Found, call: WriteCall, spec: WriteSpec<Body>): void {
  spec.authorize?.(found);
  if (found.session !== undefined) {
    if (call.target.versions.length === 0 && spec.needsNoBasis !== true) throw versionRequired();
    return;
  }
  if (found.token !== undefined || spec.needsNoVersion === true) return;
  requireWriter(found);
  if (call.target.versions.length === 0) throw tokenRequired();
}
