import type { Actor, ErrorDetail } from "@formbridge/contract";
import type { UnchainedEvent } from "../../domain/chained-event.ts";
import { ContractError, type ErrorAbout } from "../../domain/error.ts";
import type { Hash } from "../../domain/hashing.ts";
import { sha256 } from "../../domain/hashing.ts";
import { keyCreatedPayload } from "../../domain/idempotency/audit-payloads.ts";
import type { KeyedOperation, KeyRecord, KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { auditEvent } from "../../domain/plan-change.ts";
import type { Submission } from "../../domain/submission.ts";
import type { KeyWrite } from "../../ports/store.ts";
import type { Deps } from "../deps.ts";
import { boundToAnswer } from "../read/open-snapshot.ts";

/** What is stored under an idempotency key: the response or recorded refusal, and the event of the request. */
export type RecordedAnswer = { eventId?: string } & ({ body: unknown } | { error: ErrorDetail; about: ErrorAbout });

export const keyRef = (operation: KeyedOperation, key: string): KeyRef => ({ operation, hash: sha256(key) });

export function keyConflict(record?: KeyRecord): ContractError {
  return new ContractError("conflict", "The idempotency key was already used for a different request.", {
    ...(record !== undefined && { about: { submissionId: record.submissionId } }),
    nextActions: [
      {
        action: "collect_field",
        field: "idempotencyKey",
        hint: "Use a new key for a new request, or repeat the original request unchanged.",
      },
    ],
  });
}

export const keyLocked = (cause?: unknown): ContractError =>
  new ContractError("locked", "Another request with this idempotency key is still running. Try again later.", {
    retryAfterMs: 1000,
    ...(cause !== undefined && { cause }),
  });

interface KeyWriteInput {
  ref: KeyRef;
  fingerprint: Hash;
  principal: string;
  carriedVersion: number;
  failed: boolean;
  answer: RecordedAnswer;
  eventId: string | undefined;
  submission: Submission;
  intake: CompiledIntake;
  now: number;
  /** The response may still be replaced until this time. */
  answerBy?: Instant;
  /** Tests may use a shorter time to live. */
  ttlMs?: number;
  replaces?: Hash;
}

/**
 * The record of a response. Records of a create or submit outlive the submission's end; a setFields record only has its
 * own time to live.
 */
export function keyWrite(deps: Deps, input: KeyWriteInput): KeyWrite {
  const { ref, submission, intake, now, answerBy, replaces, ttlMs, ...rest } = input;
  const answer: RecordedAnswer = { ...input.answer, ...(input.eventId !== undefined && { eventId: input.eventId }) };
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

/** Notes in the idempotency stream that a key, by its hash, was recorded. */
export function keyAudit(
  deps: Deps,
  key: KeyWrite | undefined,
  about: { submission: Submission; by: Actor; now: number },
): UnchainedEvent[] {
  if (key === undefined) return [];
  const { submission, by, now } = about;
  const payload = keyCreatedPayload({ ...key, intakeId: submission.intakeId, now });
  return [auditEvent("idempotency.key.created", { submission, by, payload, now, mint: deps.random })];
}
