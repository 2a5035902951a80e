import type { Actor, ActorInput, CreateSubmissionRequest, CreateSubmissionResponse } from "@formbridge/contract";
import {
  type CreateSubmission,
  decideCreateSubmission,
  initialSubmission,
} from "../domain/decide/create-submission.ts";
import type { DecideContext } from "../domain/decide/decision.ts";
import { ContractError } from "../domain/error.ts";
import { fingerprint, type Meaning } from "../domain/idempotency/fingerprint.ts";
import { checkKeyFormat } from "../domain/idempotency/key-format.ts";
import { weighRecord } from "../domain/idempotency/weigh-record.ts";
import type { CompiledIntake } from "../domain/intake/compiled-intake.ts";
import type { Submission } from "../domain/submission.ts";
import { endedError } from "../domain/tokens/refuse-ended.ts";
import type { KeyRecord, KeyRef, Snapshot } from "../ports/store.ts";
import type { Caller, Principal } from "./caller.ts";
import { recordedActor } from "./support/actors.ts";
import { type Answer, answerWith, createdBody, type Shown } from "./support/answer.ts";
import { authenticate, hasRole, reachesIntake } from "./support/authenticate.ts";
import { commitDecision } from "./support/commit.ts";
import type { Context } from "./support/context.ts";
import { expireIfDue } from "./support/expire-due.ts";
import { enterLine, keyAudit, keyConflict, keyLocked, keyRef, keyWrite, recordReplay } from "./support/keyed.ts";
import { openRow, openToken } from "./support/open-snapshot.ts";
import { countCreate } from "./support/rate-limits.ts";

export interface CreateCall {
  caller: Caller;
  intakeId: string;
  request: CreateSubmissionRequest;
  idempotencyKey?: string;
  idempotencyTtlMs?: number;
}

/** A create as it stands after the door: who, where, and under which key. */
interface Admitted {
  context: Context;
  call: CreateCall;
  principal: Principal | undefined;
  tenant: string;
  intake: CompiledIntake;
  decide: DecideContext;
  command: CreateSubmission;
  key?: { ref: KeyRef; fingerprint: string };
}

const MAX_TRIES = 64;

export async function createSubmission(context: Context, call: CreateCall): Promise<Answer<CreateSubmissionResponse>> {
  const { deps } = context;
  const ref = call.idempotencyKey === undefined ? undefined : keyRef("create", call.idempotencyKey);
  // Neither needs the other's answer. Who is not known hears nothing of what was loaded.
  const [authenticated, loaded] = await Promise.all([
    authenticate(deps, call.caller),
    deps.backend.store.load({ by: { intake: call.intakeId } }),
  ]);
  const intake = loaded.definition === undefined ? undefined : await context.catalog.byDigest(loaded.definition.digest);
  if (intake === undefined && authenticated === undefined) await refuseRetired(context, call.intakeId);
  const door = admit(intake, { tenant: loaded.definition?.tenant ?? "", caller: authenticated });
  const rate = await countCreate(deps, call.caller, door.principal);
  const admitted = prepare({ context, call, now: loaded.now, ref, ...door });
  if (admitted.key === undefined) return { ...(await createNew(admitted)), ...(rate && { rate }) };
  const scope = { submission: { tenant: door.tenant, intakeId: call.intakeId } };
  const leave = await enterLine(deps, scope, admitted.key.ref);
  try {
    return { ...(await createOnce(admitted)), ...(rate && { rate }) };
  } finally {
    leave();
  }
}

/** Whoever could create here without a key learns that this is over, not that a key is needed. */
async function refuseRetired({ deps }: Context, intakeId: string): Promise<void> {
  const known = await deps.backend.intakes.get(intakeId);
  if (known?.definition.access === "public") throw notThere();
}

const notThere = (): ContractError => new ContractError("not_found", "There is no such intake.");

/** Who may create here. A caller who may not see an intake gets the answer of one that is not there. */
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
  if (caller === undefined)
    throw new ContractError("unauthorized", "This needs an API key: Authorization: Bearer fbk_…");
  if (!sees) throw notThere();
  if (!hasRole(caller, "agent", "admin")) throw new ContractError("forbidden", "Creating needs the role agent.");
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
  const actor = recordedActor(principal, given as ActorInput | undefined, { required: true });
  const isKeyed = ref !== undefined && intake.definition.idempotency?.enabled !== false;
  if (isKeyed) checkKeyFormat(call.idempotencyKey ?? "", { anonymous: principal === undefined });
  return {
    context,
    call,
    principal,
    tenant,
    intake,
    decide: {
      now,
      actor,
      provenHuman: principal?.actor.kind === "human",
      intake,
      policy: context.deps.settings.policy,
      newId: (prefix) => context.deps.random.newId(prefix),
    },
    command: {
      tenant,
      ...(principal && { keyId: principal.keyId }),
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

/** The key's actor; without a key, the idempotency key itself, which is hard to guess. */
const principalName = (principal: Principal | undefined): string =>
  principal === undefined ? "idempotency-key" : `actor:${principal.actor.kind}:${principal.actor.id}`;

/** With a key: exactly one request creates, every other one gets what it made. Looks anew, after the wait for its turn. */
async function createOnce(admitted: Admitted): Promise<Answer<CreateSubmissionResponse>> {
  const { context, call, key, decide } = admitted;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const query = { by: { intake: call.intakeId }, ...(key && { key: key.ref }) };
    const { now, record } = await context.deps.backend.store.load(query);
    if (record === undefined) {
      const made = await tryCreate({ ...admitted, decide: { ...decide, now } });
      if (made !== undefined) return made;
      continue;
    }
    const answer = await replayCreate(admitted, record);
    if (answer !== undefined) return answer;
  }
  throw keyLocked();
}

async function createNew(admitted: Admitted): Promise<Answer<CreateSubmissionResponse>> {
  const made = await tryCreate(admitted);
  if (made === undefined) throw new Error("a new submission met one with its id");
  return made;
}

/** Undefined: another request with the key was faster. */
async function tryCreate(admitted: Admitted): Promise<Answer<CreateSubmissionResponse> | undefined> {
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
    ...(key && {
      keyWrite: (after) => recordOf(admitted, after, key),
      audit: (after) => keyAudit(deps, { ref: key.ref, submission: after, by: decide.actor, now: decide.now }),
    }),
  });
  if (outcome.committed.kind !== "committed") return undefined;
  const shown = show(admitted, { submission: outcome.after, token: outcome.token, now: decide.now });
  const body = { ...createdBody(shown), ...(key && { _idempotent: false }) };
  return { ...answerWith(body, shown), created: true };
}

const recordOf = (
  { context, call, principal, intake, decide }: Admitted,
  after: Submission,
  key: { ref: KeyRef; fingerprint: string },
) =>
  keyWrite(context.deps, {
    ...key,
    principal: principalName(principal),
    carriedVersion: 0,
    failed: false,
    // A create's replay shows the submission as it is then: nothing of the answer needs to be kept.
    answer: { body: null },
    submission: after,
    intake,
    now: decide.now,
    ...(call.idempotencyTtlMs !== undefined && { ttlMs: call.idempotencyTtlMs }),
  });

function show(
  { context, intake }: Admitted,
  state: { submission: Submission; token: string | undefined; now: number },
): Shown {
  const { submission, token, now } = state;
  return { submission, intake, now, policy: context.deps.settings.policy, ...(token !== undefined && { token }) };
}

/** The same submission as it stands now. Undefined: the ground moved, look again. */
async function replayCreate(
  admitted: Admitted,
  record: KeyRecord,
): Promise<Answer<CreateSubmissionResponse> | undefined> {
  const { context, principal, tenant, decide, key } = admitted;
  const { deps } = context;
  const retry = { fingerprint: key?.fingerprint ?? "", principal: principalName(principal), carriedVersion: 0 };
  const verdict = weighRecord(record, retry);
  if (verdict !== "replay") throw keyConflict(verdict === "conflict" && principal !== undefined ? record : undefined);
  const loaded = await deps.backend.store.load({ by: { id: record.submissionId, tenant } });
  if (loaded.submission === undefined) throw new Error("a recorded submission is gone");
  const submission = openRow(deps.sealer, loaded.submission);
  // The submission keeps the definition that it was created with; the intake may have moved on.
  const intake = await context.catalog.byDigest(submission.definition);
  const { now } = loaded;
  if (submission.erasedAt !== undefined) throw keyConflict();
  if (await expireIfDue(deps, { submission, intake, now })) return undefined;
  const expired = submission.state === "expired" ? endedError(submission, now) : undefined;
  if (expired !== undefined) throw expired;
  const after = await recordReplay(deps, { submission, intake, actor: decide.actor, now, record });
  if (after === undefined) return undefined;
  const shown = show({ ...admitted, intake }, { submission: after, token: heldToken(context, loaded.submission), now });
  const body = { ...createdBody(shown), _idempotent: true };
  return { ...answerWith(body, shown), replayOf: record.recordedAt };
}

const heldToken = ({ deps }: Context, snapshot: Snapshot): string | undefined =>
  snapshot.submission.tokensRevoked ? undefined : openToken(deps.sealer, snapshot);
