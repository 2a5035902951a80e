import type { Actor, CreateSubmissionRequest, CreateSubmissionResponse } from "@formbridge/contract";
import {
  type CreateSubmission,
  decideCreateSubmission,
  initialSubmission,
} from "../domain/decide/create-submission.ts";
import type { DecideContext } from "../domain/decide/decision.ts";
import { ContractError } from "../domain/error.ts";
import { fingerprint, type Meaning } from "../domain/idempotency/fingerprint.ts";
import { checkKeyFormat } from "../domain/idempotency/key-format.ts";
import type { KeyRecord, KeyRef } from "../domain/idempotency/key-record.ts";
import { matchRecord } from "../domain/idempotency/match-record.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import type { Submission } from "../domain/submission.ts";
import { endedError } from "../domain/tokens/refuse-ended.ts";
import type { RateVerdict } from "../ports/rate-limiter.ts";
import type { Loaded, LoadQuery } from "../ports/store.ts";
import { traceOf } from "./audit/call-trace.ts";
import type { Caller, Principal } from "./caller.ts";
import type { Context } from "./context.ts";
import { createKeyLock } from "./idempotency/key-lock.ts";
import { keyAudit, keyConflict, keyLocked, keyRef, keyWrite } from "./idempotency/keyed.ts";
import { noteContention } from "./idempotency/note-contention.ts";
import { recordConflict } from "./idempotency/record-conflict.ts";
import { seesSensitive } from "./identity/access.ts";
import { recordedActor } from "./identity/actors.ts";
import { authenticate, hasRole, reachesIntake } from "./identity/authenticate.ts";
import { liveToken } from "./identity/held-token.ts";
import { countryOf } from "./identity/network-of.ts";
import { countCreate, peekCreates } from "./identity/rate-limits.ts";
import { openRow } from "./read/open-snapshot.ts";
import { createdBody, type OperationResponse, respondWith, show } from "./read/response.ts";
import { commitDecision } from "./write/commit.ts";
import { decideContextOf } from "./write/decide-context.ts";
import { expireIfDue } from "./write/expire-due.ts";
import { completeNamed } from "./write/refusals.ts";

export interface CreateCall {
  caller: Caller;
  intakeId: string;
  request: CreateSubmissionRequest;
  idempotencyKey?: string;
  idempotencyTtlMs?: number;
}

/** An authorized create: the caller, the intake and the idempotency key. */
interface Admitted {
  context: Context;
  call: CreateCall;
  principal: Principal | undefined;
  tenant: string;
  intake: CompiledIntake;
  decide: DecideContext;
  command: CreateSubmission;
  key?: CreateKey;
}

interface CreateKey {
  ref: KeyRef;
  fingerprint: string;
}

const MAX_TRIES = 64;

export async function createSubmission(
  context: Context,
  call: CreateCall,
): Promise<OperationResponse<CreateSubmissionResponse>> {
  const { deps } = context;
  const ref = call.idempotencyKey === undefined ? undefined : keyRef("create", call.idempotencyKey);
  // Independent of each other, so run both at once. An unauthenticated caller learns nothing of what was loaded.
  const [authenticated, loaded] = await Promise.all([
    authenticate(deps, call.caller),
    deps.backend.store.load(queryOf(call.intakeId, ref)),
  ]);
  const intake = loaded.definition === undefined ? undefined : await context.catalog.byDigest(loaded.definition.digest);
  if (intake === undefined && authenticated === undefined) await refuseRetired(context, call.intakeId);
  const door = admit(intake, { tenant: loaded.definition?.tenant ?? "", caller: authenticated });
  if (door.principal === undefined) {
    await context.watch.refuseBlocked(call.caller);
    await context.watch.refuseBlocked(call.caller, door.tenant);
  }
  const admitted = prepare({ context, call, now: loaded.now, ref, ...door });
  const { actor } = admitted.decide;
  Object.assign(context.facts, { intakeId: call.intakeId, actor: { kind: actor.kind, id: actor.id } });
  if (admitted.key !== undefined) return await createOnce(admitted, admitted.key, loaded);
  const rate = await countCreate(deps, call.caller, door.principal);
  return { ...(await createNew(admitted)), ...(rate && { rate }) };
}

const queryOf = (intakeId: string, key: KeyRef | undefined): LoadQuery => ({
  by: { intake: intakeId },
  ...(key && { key }),
});

/**
 * Anyone who could have created here without an API key learns that the intake is retired, not that a key is needed.
 */
async function refuseRetired({ deps }: Context, intakeId: string): Promise<void> {
  const known = await deps.backend.intakes.get(intakeId);
  if (known?.definition.access === "public") throw notThere();
}

const notThere = (): ContractError => new ContractError("not_found", "This intake doesn't exist.");

/** Who may create here. To a caller who may not see the intake it doesn't exist. */
function admit(
  intake: CompiledIntake | undefined,
  { tenant, caller }: { tenant: string; caller: Principal | undefined },
): { intake: CompiledIntake; tenant: string; principal: Principal | undefined } {
  const sees =
    caller !== undefined &&
    intake !== undefined &&
    caller.tenant === tenant &&
    reachesIntake(caller, intake.definition.id);
  if (intake?.definition.access === "public") return { intake, tenant, principal: sees ? caller : undefined };
  if (caller === undefined) throw new ContractError("unauthorized", "This needs an API key.");
  if (!sees) throw notThere();
  if (!hasRole(caller, "agent", "admin"))
    throw new ContractError("forbidden", "Creating a submission needs the role agent or admin.");
  return { intake, tenant, principal: caller };
}

function prepare(door: {
  context: Context;
  call: CreateCall;
  now: number;
  ref: KeyRef | undefined;
  principal: Principal | undefined;
  tenant: string;
  intake: CompiledIntake;
}): Admitted {
  const { context, call, principal, tenant, intake, ref, now } = door;
  const { actor: given, initialFields, ttlMs } = call.request;
  const actor = recordedActor(principal, given, { required: true });
  const isKeyed = ref !== undefined && intake.definition.idempotency?.enabled !== false;
  if (isKeyed) checkKeyFormat(call.idempotencyKey ?? "", { anonymous: principal === undefined });
  return {
    context,
    call,
    principal,
    tenant,
    intake,
    decide: decideContextOf(context.deps, { now, actor, intake }),
    command: {
      tenant,
      ...(principal && { keyId: principal.keyId }),
      ...countryOf(context.deps, call.caller),
      ...(initialFields && { initialFields }),
      ...(ttlMs !== undefined && { ttlMs }),
    },
    ...(isKeyed && { key: { ref, fingerprint: fingerprint(meaningOf(actor, call.request)) } }),
  };
}

const meaningOf = ({ kind, id }: Actor, { initialFields = {}, ttlMs }: CreateSubmissionRequest): Meaning => ({
  operation: "create",
  actor: { kind, id },
  initialFields,
  ttlMs: ttlMs ?? null,
});

/** The API key's actor; without one, the idempotency key itself, which is hard to guess. */
const principalName = (principal: Principal | undefined): string =>
  principal === undefined ? "idempotency-key" : `actor:${principal.actor.kind}:${principal.actor.id}`;

/**
 * With an idempotency key: exactly one request creates, and all others get its result. `loaded` is a lookup made before
 * any wait. A replay doesn't count against the rate limit.
 */
async function createOnce(
  admitted: Admitted,
  { ref }: CreateKey,
  loaded: Loaded,
): Promise<OperationResponse<CreateSubmissionResponse>> {
  const { context, call, decide, tenant, principal } = admitted;
  const { deps } = context;
  const { intakeId } = call;
  context.facts.key = ref;
  const lock = createKeyLock(deps);
  let { now, record } = loaded;
  let rate: RateVerdict | undefined;
  const answered = (answer: OperationResponse<CreateSubmissionResponse>): typeof answer => {
    const submission = { ...answer.body, tenant, intakeId };
    noteContention(context, lock, { submission, ref, by: decide.actor, now });
    return answer;
  };
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const key = { ...ref, intakeId };
      deps.instrumentation.record({ name: "key_looked_up", key, hit: record !== undefined });
      if (record !== undefined) {
        lock.release();
        const answer = await replayCreate(admitted, record);
        if (answer !== undefined) return answered(answer);
      } else if (lock.isHeld()) {
        rate ??= await countCreate(deps, call.caller, principal);
        const make = () => tryCreate({ ...admitted, decide: { ...decide, now } });
        const made = await lock.unlessHeld(make);
        if (made !== undefined) return answered({ ...made, ...(rate && { rate }) });
      } else await lock.acquire({ ...ref, tenant, intakeId });
      ({ now, record } = await deps.backend.store.load(queryOf(intakeId, ref)));
    }
    throw keyLocked();
  } finally {
    lock.release();
  }
}

async function createNew(admitted: Admitted): Promise<OperationResponse<CreateSubmissionResponse>> {
  const made = await tryCreate(admitted);
  if (made === undefined) throw new Error("a submission with the new id already exists");
  return made;
}

/** Undefined if another request with the key was faster. */
async function tryCreate(admitted: Admitted): Promise<OperationResponse<CreateSubmissionResponse> | undefined> {
  const { context, command, decide, intake, key } = admitted;
  const { deps } = context;
  const before = initialSubmission(command, decide);
  const decision = decideCreateSubmission(before, command, decide);
  if (decision.refusal !== undefined) throw decision.refusal;
  const outcome = await commitDecision(deps, {
    operation: "createSubmission",
    before,
    decision,
    actor: decide.actor,
    now: decide.now,
    intake,
    trace: traceOf(context, admitted.call.caller),
    ...(key && {
      keyWrite: (after, _token, eventId) => recordOf(admitted, after, { ...key, eventId }),
      audit: (after, written) => keyAudit(deps, written, { submission: after, by: decide.actor, now: decide.now }),
    }),
  });
  if (outcome.committed.kind !== "committed") return undefined;
  const { after: submission, token } = outcome;
  Object.assign(context.facts, { submissionId: submission.submissionId, version: submission.version });
  const masked = isMasked(admitted, intake);
  const shown = show(deps, { submission, intake, now: decide.now, masked }, token === undefined ? {} : { token });
  const body = { ...createdBody(shown), ...(key && { _idempotent: false }) };
  return { ...respondWith(body, shown), created: true };
}

const recordOf = (
  { context, call, principal, intake, decide }: Admitted,
  after: Submission,
  key: CreateKey & { eventId: string | undefined },
) =>
  keyWrite(context.deps, {
    ...key,
    principal: principalName(principal),
    carriedVersion: 0,
    failed: false,
    // Replaying a create shows the submission's current state, so the response isn't stored.
    answer: { body: null },
    submission: after,
    intake,
    now: decide.now,
    ...(call.idempotencyTtlMs !== undefined && { ttlMs: call.idempotencyTtlMs }),
  });

/** Whether the creator gets sensitive values masked. */
const isMasked = ({ call, principal }: Admitted, intake: CompiledIntake): boolean =>
  !seesSensitive({ caller: call.caller, principal }, intake);

/** The same submission in its current state. Undefined if it changed meanwhile: load again. */
async function replayCreate(
  admitted: Admitted,
  record: KeyRecord,
): Promise<OperationResponse<CreateSubmissionResponse> | undefined> {
  const { context, call, principal, tenant, decide } = admitted;
  const { deps } = context;
  await refuseOther(admitted, record);
  const loaded = await deps.backend.store.load({ by: { id: record.submissionId, tenant } });
  if (loaded.submission === undefined) throw new Error("a recorded submission is gone");
  const submission = openRow(deps.sealer, loaded.submission);
  // The submission keeps its definition, even if the intake has a newer one.
  const intake = await context.catalog.byDigest(submission.definition);
  const { now } = loaded;
  if (submission.erasedAt !== undefined) throw keyConflict();
  if (await expireIfDue(deps, { submission, intake, now })) return undefined;
  const expired = submission.state === "expired" ? endedError(submission, now) : undefined;
  if (expired !== undefined) throw expired;
  const replayCount = await context.replayLog.append({ submission, intake, actor: decide.actor, now, record });
  Object.assign(context.facts, { replayed: true, submissionId: submission.submissionId, version: submission.version });
  const after = { ...submission, replayCount };
  const token = liveToken(deps, { submission, snapshot: loaded.submission, now });
  const lapsed = token === undefined && !submission.tokensRevoked && { lapsed: true as const };
  const masked = isMasked(admitted, intake);
  const shown = show(deps, { submission: after, intake, now, masked }, token === undefined ? { ...lapsed } : { token });
  const body = { ...createdBody(shown), _idempotent: true };
  const rate = await peekCreates(deps, call.caller, principal);
  return { ...respondWith(body, shown), replayOf: record.recordedAt, ...(rate && { rate }) };
}

/** The idempotency key belongs to another request or caller. Counts as a create, so that trying keys isn't free. */
async function refuseOther(admitted: Admitted, record: KeyRecord): Promise<void> {
  const { context, call, principal, tenant, decide, key } = admitted;
  const fingerprint = key?.fingerprint ?? "";
  const verdict = matchRecord(record, { fingerprint, principal: principalName(principal), carriedVersion: 0 });
  if (verdict === "replay") return;
  await countCreate(context.deps, call.caller, principal);
  const isForeign = verdict === "foreign";
  const conflict = { record, fingerprint, actor: decide.actor, tenant };
  await recordConflict(context, { ...conflict, verdict: isForeign ? "foreign" : "conflict" });
  throw await completeNamed(context, keyConflict(isForeign || principal === undefined ? undefined : record), principal);
}
