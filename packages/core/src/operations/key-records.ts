import type { SubmissionState } from "@formbridge/contract";
import { replaysOf } from "../domain/decide/replay.ts";
import { isLive, type KeyedOperation } from "../domain/idempotency/key-record.ts";
import type { Instant } from "../domain/instant.ts";
import { endedAt } from "../domain/submission.ts";
import type { FoundRecord } from "../ports/idempotency.ts";
import type { Context } from "./context.ts";
import { forgetOf } from "./idempotency/forget-records.ts";

/** Whoever works on the server itself, with its commands. */
const OPERATOR = { kind: "system", id: "operator" } as const;
const MAX_TRIES = 10;

/** What an operator may see of a record: neither the key nor the recorded response. */
export interface KeyRecordView {
  tenant: string;
  intakeId: string;
  operation: KeyedOperation;
  keyHash: string;
  submissionId: string;
  submissionState: SubmissionState;
  /** What was recorded: a response, or the refusal of a submit that may be corrected. */
  outcome: "succeeded" | "failed";
  /** Whether a retry gets it. An expired record is deleted by the next clean-up. */
  isLive: boolean;
  recordedAt: Instant;
  /** The earliest end; a record may be kept until some time after its submission has ended. */
  expiresAt: Instant;
  replayCount: number;
}

/** The records of a tenant whose key hash begins like this. For the operator's own commands, which need no API key. */
export async function findKeyRecords(
  { deps }: Context,
  where: { tenant: string; hash: string },
  limit: number,
): Promise<KeyRecordView[]> {
  const found = await deps.backend.idempotency.search(where, limit);
  const views = await Promise.all(found.map((record) => viewOf(deps.backend.store, record)));
  return views.filter((view) => view !== undefined);
}

type LoadOnly = Pick<Context["deps"]["backend"]["store"], "load">;

/** Undefined if the submission was removed meanwhile. */
async function viewOf(store: LoadOnly, record: FoundRecord): Promise<KeyRecordView | undefined> {
  const { tenant, intakeId, ref, submissionId, recordedAt, expiresAt, failed } = record;
  const { now, submission: snapshot } = await store.load({ by: { id: submissionId, tenant } });
  if (snapshot === undefined) return undefined;
  const { submission } = snapshot;
  return {
    tenant,
    intakeId,
    operation: ref.operation,
    keyHash: ref.hash,
    submissionId,
    submissionState: submission.state,
    outcome: failed ? "failed" : "succeeded",
    isLive: isLive(record, endedAt(submission), now),
    recordedAt,
    expiresAt,
    replayCount: replaysOf(submission, ref),
  };
}

/**
 * Deletes a record, live or not, and notes it in the history: whoever sends that request again executes it again. False
 * if writes to the submission keep coming in between.
 */
export async function deleteKeyRecord(context: Context, view: KeyRecordView): Promise<boolean> {
  const { keyHash: hash, ...record } = view;
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if ((await forgetOf(context, [{ ...record, hash }], { reason: "explicit_delete", by: OPERATOR })) > 0) return true;
  }
  return false;
}
