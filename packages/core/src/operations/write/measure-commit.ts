import type { Decision } from "../../domain/decide/decision.ts";
import type { DomainEvent } from "../../domain/events.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import { handsOff } from "../../domain/tokens/token-audit.ts";
import type { Instrumentation } from "../../ports/instrumentation.ts";
import type { Change } from "../../ports/store.ts";

interface Committed {
  before: Submission;
  after: Submission;
  decision: Decision;
  change: Change;
  intake: CompiledIntake;
  now: number;
  /** How long the call had taken when its commit was planned. */
  ms: number;
}

/** Measures what a change did, once it is committed. */
export function measureCommit({ record }: Instrumentation, committed: Committed): void {
  const { before, after, decision, change, now } = committed;
  const { intakeId, submissionId } = after;
  for (const { type, payload } of change.events) {
    if (type === "token.created") record({ name: "token_created", intakeId, ms: committed.ms });
    else if (type === "token.expired") record({ name: "token_expired", reason: reasonOf(payload?.reason) });
    else if (type === "token.handed_off") {
      const changes = handsOff(before.lastPerson, after.lastPerson);
      if (changes === undefined) continue;
      const ms = Math.max(0, now - before.updatedAt);
      record({ name: "token_handed_off", from: changes.from.kind, to: changes.to.kind, ms });
    }
  }
  for (const event of decision.events) measureEvent({ record }, event, committed);
  if (change.key !== undefined) {
    const { ref, replaces, answer } = change.key;
    const key = { intakeId, ...ref };
    if (replaces !== undefined) record({ name: "key_replaced", key });
    else record({ name: "key_stored", key, submissionId, bytes: answer.length });
  }
  if (after.delivery?.givenUp === true && before.delivery?.givenUp !== true)
    record({ name: "delivery_dead", intakeId });
}

const reasonOf = (reason: unknown): "ttl" | "terminal_state" | "admin_revoked" =>
  reason === "ttl" || reason === "terminal_state" ? reason : "admin_revoked";

function measureEvent(
  { record }: Instrumentation,
  event: DomainEvent,
  { before, after, intake, now }: Committed,
): void {
  const { intakeId } = after;
  switch (event.type) {
    case "submission.submitted": {
      if (before.submittedAt !== undefined) return;
      const ms = now - before.createdAt;
      record({ name: "submitted", intakeId, ms, writes: after.version, by: whoFilledIn(after) });
      return;
    }
    case "submission.expired": {
      const [step = "complete"] = intake.validate(before.fields).missing;
      record({ name: "abandoned", intakeId, step: step.split(".", 1)[0] ?? step });
      return;
    }
    case "upload.requested":
      record({ name: "upload", outcome: "requested", bytes: event.upload.sizeBytes });
      return;
    case "upload.completed": {
      const upload = before.uploads.find(({ uploadId }) => uploadId === event.uploadId);
      record({ name: "upload", outcome: "completed", bytes: upload?.sizeBytes ?? 0 });
      return;
    }
    case "upload.failed":
      record({ name: "upload", outcome: "rejected", bytes: 0 });
      return;
    case "upload.abandoned":
      record({ name: "upload", outcome: "abandoned", bytes: 0 });
  }
}

function whoFilledIn({ activity = {}, createdBy }: Submission): "agent" | "human" | "both" {
  const isAgent = activity.agent !== undefined || createdBy.kind === "agent";
  const isHuman = activity.human !== undefined || createdBy.kind === "human";
  if (isAgent && isHuman) return "both";
  return isHuman ? "human" : "agent";
}
