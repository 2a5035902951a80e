import type { Json } from "@formbridge/contract";
import type { DomainEvent } from "../events.ts";
import type { NewJob } from "../job.ts";
import type { Submission } from "../submission.ts";
import { type DecideContext, deliveryJob, escalationJob } from "./decision.ts";

const GATEKEEPER = { kind: "system", id: "auto_approval" } as const;

/**
 * Where a submission goes after submit or after a gate: past the gates that approve automatically, to the first one
 * that needs a person, or on to its destination. The destination `store` finalizes at once.
 */
export function routeOnward(
  submission: Submission,
  fromGate: number,
  context: DecideContext,
): { events: DomainEvent[]; jobs: NewJob[] } {
  const { definition } = context.intake;
  const gates = definition.approvalGates ?? [];
  const events: DomainEvent[] = [];
  for (let index = fromGate; index < gates.length; index++) {
    const gate = gates[index];
    if (gate === undefined) break;
    if (!context.intake.autoApproves(index, gateData(submission, context))) {
      events.push({ type: "review.requested", gateIndex: index, gate: gate.name });
      return { events, jobs: escalation(submission.submissionId, gate.escalateAfterMs, context.now) };
    }
    const passed = index === gates.length - 1 ? "all" : "gate";
    events.push({ type: "review.approved", by: GATEKEEPER, gateIndex: index, gate: gate.name, auto: true, passed });
  }
  if (definition.destination.kind === "store" && submission.destination === undefined)
    return { events: [...events, { type: "submission.finalized" }], jobs: [] };
  return { events, jobs: [{ key: deliveryJob(submission.submissionId), kind: "deliver", runAt: context.now }] };
}

const escalation = (submissionId: string, afterMs: number | undefined, now: number): NewJob[] =>
  afterMs === undefined ? [] : [{ key: escalationJob(submissionId), kind: "escalate", runAt: now + afterMs }];

/** The data that a gate's JSON Logic can read. */
function gateData(submission: Submission, { actor }: DecideContext): Json {
  return {
    fields: submission.fields,
    submission: {
      submissionId: submission.submissionId,
      intakeId: submission.intakeId,
      version: submission.version,
      createdAt: submission.createdAt,
    },
    // A declared id proves nothing, so rules can't read it.
    actor:
      actor.declared === true
        ? { kind: actor.kind, declared: true }
        : { kind: actor.kind, id: actor.id, declared: false },
  };
}
