import { ContractError } from "../../domain/error.ts";
import { weighRecord } from "../../domain/idempotency/weigh-record.ts";
import type { KeyRecord, KeyRef } from "../../ports/store.ts";
import type { Answer } from "./answer.ts";
import { awaitFirstDelivery } from "./first-delivery.ts";
import { keyConflict, openAnswer, recordReplay } from "./keyed.ts";
import { loadOpened } from "./load-opened.ts";
import { type Attempt, carriedVersion, principalName, type WriteAnswer } from "./write-spec.ts";

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
  attempt: Attempt<Body>,
  record: KeyRecord,
): Promise<WriteAnswer<Body> | undefined> {
  const { context, found, actor } = attempt;
  const { now } = found;
  const after = await recordReplay(context.deps, { ...found, actor, record });
  if (after === undefined) return undefined;
  const answer = replayOf<Body>(attempt, record);
  const open = after.delivery?.answer;
  if (open?.key !== record.ref.hash || now >= open.by) return answer;
  const later = async (): Promise<Answer<Body>> => {
    await awaitFirstDelivery(context, { submission: after, now, until: open.by });
    const then = await recordNow(attempt, record.ref);
    return then === undefined ? answer : replayOf<Body>(attempt, then);
  };
  return { ...answer, later };
}

/** The answer of the call that made the record: what its record says now. */
export async function recordedAnswer<Body extends object>(
  attempt: Attempt<Body>,
  ref: KeyRef,
): Promise<Answer<Body> | undefined> {
  const record = await recordNow(attempt, ref);
  if (record === undefined) return undefined;
  const { body, mark, definition } = replayOf<Body>(attempt, record);
  return { body: { ...body, _idempotent: false }, ...(mark && { mark }), ...(definition && { definition }) };
}

/** Undefined when it is forgotten, or was erased with its submission. */
async function recordNow({ context, found }: Attempt<object>, ref: KeyRef): Promise<KeyRecord | undefined> {
  const then = await loadOpened(context, found.submission, ref);
  return then?.submission.erasedAt === undefined ? then?.record : undefined;
}

function replayOf<Body extends object>({ context, found }: Attempt<Body>, record: KeyRecord): Answer<Body> {
  const recorded = openAnswer(context.deps, record, found.submission.tenant);
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
    definition: found.intake.definition,
  };
}
