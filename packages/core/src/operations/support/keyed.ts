import type { Actor, ErrorDetail } from "@formbridge/contract";
import { decideReplay } from "../../domain/decide/replay.ts";
import { ContractError, type ErrorAbout } from "../../domain/error.ts";
import type { Hash } from "../../domain/hashing.ts";
import { sha256 } from "../../domain/hashing.ts";
import { type Instant, toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { auditEvent } from "../../domain/plan-change.ts";
import type { Submission } from "../../domain/submission.ts";
import type { AuditEvent, KeyedOperation, KeyRecord, KeyRef, KeyWrite } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { commitDecision } from "./commit.ts";
import { boundToAnswer } from "./open-snapshot.ts";

/** What is kept under a key: the answer, or the recorded refusal. */
export type RecordedAnswer = { body: unknown } | { error: ErrorDetail; about: ErrorAbout };

export const keyRef = (operation: KeyedOperation, key: string): KeyRef => ({ operation, hash: sha256(key) });

export function keyConflict(record?: KeyRecord): ContractError {
  return new ContractError("conflict", "The idempotency key was used for another request.", {
    ...(record !== undefined && { about: { submissionId: record.submissionId } }),
    nextActions: [{ action: "cancel", hint: "Use a new key for a new request; repeat a request word for word." }],
  });
}

export const keyLocked = (): ContractError =>
  new ContractError("locked", "Another request with this idempotency key is running.", { retryAfterMs: 1000 });

interface KeyWriteInput {
  ref: KeyRef;
  fingerprint: Hash;
  principal: string;
  carriedVersion: number;
  failed: boolean;
  answer: RecordedAnswer;
  submission: Submission;
  intake: CompiledIntake;
  now: number;
  /** Until then the answer may still be replaced. */
  answerBy?: Instant;
  /** Tests may ask for a shorter life. */
  ttlMs?: number;
  replaces?: Hash;
}

/** The record of an answer. A create or submit is remembered beyond its submission's end, a setFields by its time alone. */
export function keyWrite(deps: Deps, input: KeyWriteInput): KeyWrite {
  const { ref, submission, intake, now, answer, answerBy, replaces, ttlMs, ...rest } = input;
  const keep = ttlMs ?? intake.definition.idempotency?.ttlMs ?? deps.settings.policy.idempotencyTtlMs;
  return {
    ref,
    fingerprint: rest.fingerprint,
    principal: rest.principal,
    carriedVersion: rest.carriedVersion,
    failed: rest.failed,
    answer: deps.sealer.seal(JSON.stringify(answer), boundToAnswer(submission)),
    ...(answerBy !== undefined && { answerBy }),
    expiresAt: now + keep,
    ...(ref.operation !== "setFields" &&
      ttlMs === undefined && { keepAfterEndMs: deps.settings.policy.idempotencyTtlMs }),
    ...(replaces !== undefined && { replaces }),
  };
}

export const openAnswer = (deps: Deps, record: KeyRecord, tenant: string): RecordedAnswer =>
  JSON.parse(
    deps.sealer.open(record.answer, boundToAnswer({ tenant, submissionId: record.submissionId })),
  ) as RecordedAnswer;

/** Writes the one line that a replay leaves. Answers the submission after it, or undefined when somebody was faster. */
export async function recordReplay(
  deps: Deps,
  about: { submission: Submission; intake: CompiledIntake; actor: Actor; now: number; record: KeyRecord },
): Promise<Submission | undefined> {
  const { submission, record, now, actor } = about;
  const { operation } = record.ref;
  const mint = { eventId: () => deps.random.newId("evt"), salt: () => deps.random.salt() };
  const outcome = await commitDecision(deps, {
    operation: "replay",
    before: submission,
    decision: decideReplay(submission, operation),
    actor,
    now,
    intake: about.intake,
    ignoresDeadline: true,
    audit: (after) => [
      auditEvent("idempotency.replay", {
        submission: after,
        by: actor,
        payload: { operation, keyHash: record.ref.hash, originalTimestamp: toIso(record.recordedAt) },
        now,
        mint,
      }),
    ],
  });
  deps.instrumentation.record({ name: "replay", operation });
  return outcome.committed.kind === "committed" ? outcome.after : undefined;
}

/** The idempotency stream tells that a key was used, by its hash. */
export function keyAudit(
  deps: Deps,
  about: { ref: KeyRef; submission: Submission; by: Actor; now: number },
): AuditEvent[] {
  const { ref, submission, by, now } = about;
  const mint = { eventId: () => deps.random.newId("evt"), salt: () => deps.random.salt() };
  const payload = { operation: ref.operation, keyHash: ref.hash };
  return [auditEvent("idempotency.key.created", { submission, by, payload, now, mint })];
}

/** Waits for its turn among the requests with the same key; the way out is to be called exactly once. */
export async function enterLine(
  deps: Deps,
  scope: { submission: { tenant: string; intakeId: string } },
  ref: KeyRef,
): Promise<() => void> {
  const began = performance.now();
  const { tenant, intakeId } = scope.submission;
  const { keyWaitMs: timeoutMs, maxKeyWaiters: maxWaiters } = deps.settings;
  const leave = await deps.backend.idempotency.enter({ ...ref, tenant, intakeId }, { timeoutMs, maxWaiters });
  const outcome = leave === undefined ? "timed_out" : "entered";
  deps.instrumentation.record({ name: "lock_wait", outcome, ms: performance.now() - began });
  if (leave === undefined) throw keyLocked();
  return leave;
}
