import type { Actor } from "@formbridge/contract";
import type { Hash } from "../../domain/hashing.ts";
import { conflictPayload } from "../../domain/idempotency/audit-payloads.ts";
import type { KeyRecord } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import type { Deps } from "../deps.ts";

/** An idempotency key that was used with another request. */
export interface KeyConflict {
  record: KeyRecord;
  verdict: "conflict" | "foreign";
  fingerprint: Hash;
  actor: Actor;
  tenant: string;
  /** The submission that the request was for, if found; it may be the one with the key. */
  found?: { submission: Submission; now: Instant };
}

/**
 * Written along with the refusal, to the history of the submission that has the key, whatever submission the request
 * was for.
 */
export async function recordConflict({ deps, auditTrail }: Context, conflict: KeyConflict): Promise<void> {
  const { record, verdict, fingerprint, actor } = conflict;
  const holder = await holderOf(deps, conflict);
  if (holder === undefined) return;
  const { submission, now } = holder;
  const { intakeId, submissionId } = submission;
  const type = verdict === "foreign" ? "key_collision" : "payload_mismatch";
  deps.instrumentation.record({ name: "key_conflict", key: { intakeId, ...record.ref }, type, submissionId });
  await auditTrail.record({
    type: "idempotency.conflict",
    submission,
    by: actor,
    payload: conflictPayload({ record, intakeId: submission.intakeId, now, verdict, fingerprint }),
    now,
  });
}

async function holderOf({ backend }: Deps, { record, tenant, found }: KeyConflict): Promise<KeyConflict["found"]> {
  if (found?.submission.submissionId === record.submissionId) return found;
  const { submission, now } = await backend.store.load({ by: { id: record.submissionId, tenant } });
  return submission && { submission: submission.submission, now };
}
