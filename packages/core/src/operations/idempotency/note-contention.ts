import type { Actor } from "@formbridge/contract";
import { lockContentionPayload } from "../../domain/idempotency/audit-payloads.ts";
import type { KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Context } from "../context.ts";
import type { KeyLock } from "./key-lock.ts";

type Held = Pick<Submission, "tenant" | "submissionId" | "state" | "version" | "intakeId">;

/** Records in the history that a request had to wait for another one with its idempotency key, whatever the outcome. */
export function noteContention(
  { auditTrail }: Context,
  lock: KeyLock,
  about: { submission: Held; ref: KeyRef; by: Actor; now: Instant },
): void {
  const contention = lock.contention();
  if (contention === undefined) return;
  const { submission, ref, by, now } = about;
  const payload = lockContentionPayload({ ...contention, ref, intakeId: submission.intakeId });
  auditTrail.note({ type: "idempotency.lock.contention", submission, by, payload, now });
}
