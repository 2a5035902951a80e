import type { EventActor } from "@formbridge/contract";
import { TTL_ENFORCER } from "../../domain/decide/expire.ts";
import { replaysOf } from "../../domain/decide/replay.ts";
import { type KeyExpiryReason, keyExpiredPayload } from "../../domain/idempotency/audit-payloads.ts";
import { auditEvent, planAudit } from "../../domain/plan-change.ts";
import { EVENTS_WRITTEN } from "../../ports/events.ts";
import type { ExpiredRecord } from "../../ports/idempotency.ts";
import type { Context } from "../context.ts";
import { commitTimed } from "../write/commit.ts";

interface Why {
  reason: KeyExpiryReason;
  by: Pick<EventActor, "kind" | "id">;
}

const ITS_TIME: Why = { reason: "ttl_elapsed", by: TTL_ENFORCER };

/** Deletes expired records, each in one commit with its event. Returns how many were deleted. */
export async function forgetRecords(context: Context, limit: number): Promise<number> {
  const expired = await context.deps.backend.idempotency.expired(limit);
  const bySubmission = Map.groupBy(expired, ({ submissionId }) => submissionId);
  const counts = await Promise.all([...bySubmission.values()].map((records) => forgetOf(context, records, ITS_TIME)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Deletes records of one submission, in one commit with the events that say so. Live records are deleted only
 * explicitly. Returns how many were deleted: all, or none if somebody else committed first.
 */
export async function forgetOf({ deps }: Context, records: readonly ExpiredRecord[], why: Why): Promise<number> {
  const [first] = records;
  if (first === undefined) return 0;
  const { reason, by } = why;
  const { tenant, submissionId } = first;
  const { now, submission: snapshot } = await deps.backend.store.load({ by: { id: submissionId, tenant } });
  if (snapshot === undefined) return 0;
  const { submission, sealedFields } = snapshot;
  const refs = records.map(({ operation, hash }) => ({ operation, hash }));
  const noted = records.map(({ operation, hash, ...record }) => {
    const ref = { operation, hash };
    const payload = keyExpiredPayload({ ...record, ref, now, replayCount: replaysOf(submission, ref), reason });
    return auditEvent("idempotency.key.expired", { submission, by, payload, now, mint: deps.random });
  });
  // An erased history gets no more events.
  const { after, events } = planAudit(submission, submission.erasedAt === undefined ? noted : []);
  const committed = await commitTimed(deps, {
    tenant,
    expect: { revision: submission.revision },
    row: { submission: after, ...(sealedFields !== undefined && { sealedFields }) },
    events,
    side: [],
    jobs: [],
    dropJobs: [],
    ...(reason === "explicit_delete" ? { dropLiveKeys: refs } : { dropKeys: refs }),
  });
  // Stale: the next round finds the records again.
  if (committed.kind !== "committed") return 0;
  for (const { intakeId, operation, hash, recordedAt, expiresAt } of records) {
    const [ttlMs, lifetimeMs] = [expiresAt - recordedAt, Math.max(0, now - recordedAt)];
    const key = { intakeId, operation, hash };
    deps.instrumentation.record({ name: "key_expired", key, reason, ttlMs, lifetimeMs });
  }
  if (events.length > 0) deps.wakeups.notify(EVENTS_WRITTEN);
  return records.length;
}
