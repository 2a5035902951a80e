import { ContractError } from "../../domain/error.ts";
import { weighRecord } from "../../domain/idempotency/weigh-record.ts";
import type { KeyRecord } from "../../ports/store.ts";
import type { Answer } from "./answer.ts";
import { keyConflict, openAnswer, recordReplay } from "./keyed.ts";
import { type Attempt, carriedVersion, principalName } from "./write-spec.ts";

/** What a live record means for this call: replay it, try anew in its place, or a 409. */
export function weigh(attempt: Attempt<object>, record: KeyRecord): "replay" | "try_again" {
  const { context, found, actor, key } = attempt;
  const verdict = weighRecord(record, {
    fingerprint: key?.fingerprint ?? "",
    principal: principalName(found),
    carriedVersion: carriedVersion(attempt),
    submissionId: found.submission.submissionId,
    currentVersion: found.submission.version,
  });
  if (verdict === "replay" || verdict === "try_again") return verdict;
  context.auditTrail.note({
    type: "idempotency.conflict",
    submission: found.submission,
    by: actor,
    payload: { operation: record.ref.operation, keyHash: record.ref.hash, conflictType: "payload_mismatch" },
    now: found.now,
  });
  throw keyConflict(verdict === "conflict" ? record : undefined);
}

/** Gives the recorded answer again, as it was. Undefined: the ground moved, look again. */
export async function replayWrite<Body extends object>(
  { context, found, actor }: Attempt<Body>,
  record: KeyRecord,
): Promise<Answer<Body> | undefined> {
  const { deps } = context;
  const after = await recordReplay(deps, { ...found, actor, record });
  if (after === undefined) return undefined;
  const recorded = openAnswer(deps, record, found.submission.tenant);
  if ("error" in recorded) {
    const { type, message, ...detail } = recorded.error;
    throw new ContractError(type, message, {
      ...detail,
      about: { ...recorded.about, idempotent: true, replayOf: record.recordedAt },
    });
  }
  const body = { ...(recorded.body as Body), _idempotent: true };
  const { version, resumeToken } = recorded.body as { version: number; resumeToken?: string };
  return {
    body,
    mark: { version, updatedAt: record.recordedAt, ...(resumeToken !== undefined && { resumeToken }) },
    replayOf: record.recordedAt,
  };
}
