import type { ApprovalGate, Role } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { barredFrom } from "../review/reviewers.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, escalationJob, refuse } from "./decision.ts";
import { routeOnward } from "./route-onward.ts";

export interface Review {
  decision: "approved" | "rejected";
  reasons?: string[];
  /** Roles of the reviewer's key; an admin may stand in at every gate. */
  roles: readonly Role[];
}

export function decideReview(submission: Submission, command: Review, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (submission.state !== "needs_review") {
    return refuse(
      new ContractError("conflict", "The submission does not wait for a review.", { about: aboutOf(submission) }),
    );
  }
  const gate = context.intake.definition.approvalGates?.[submission.review.gateIndex];
  if (gate === undefined) throw new Error(`the definition has no gate ${submission.review.gateIndex}`);
  const barred = barredFrom(submission, gate, { actor: context.actor, roles: command.roles });
  if (barred !== undefined) return refuse(barred);
  return command.decision === "approved"
    ? approve(submission, gate, context)
    : reject(submission, gate, { reasons: command.reasons ?? [], context });
}

function approve(
  submission: Submission & { state: "needs_review" },
  gate: ApprovalGate,
  context: DecideContext,
): Decision {
  const { gateIndex, approvals } = submission.review;
  const gates = context.intake.definition.approvalGates ?? [];
  const base = { type: "review.approved", gateIndex, gate: gate.name, auto: false } as const;
  if (approvals.length + 1 < (gate.requiredApprovals ?? 1)) {
    return { events: [{ ...base, passed: "no" }], token: "rotate" };
  }
  const onward = routeOnward(submission, gateIndex + 1, context);
  return {
    events: [{ ...base, passed: gateIndex === gates.length - 1 ? "all" : "gate" }, ...onward.events],
    token: "rotate",
    dropJobs: [escalationJob(submission.submissionId)],
    jobs: onward.jobs,
  };
}

function reject(
  submission: Submission,
  gate: ApprovalGate,
  { reasons, context }: { reasons: string[]; context: DecideContext },
): Decision {
  if (reasons.length === 0) {
    return refuse(
      new ContractError("invalid", "Rejecting needs reasons.", {
        about: aboutOf(submission),
        fields: [{ path: "reasons", code: "required", message: "Rejecting needs reasons." }],
      }),
    );
  }
  const expiresAt = Math.max(submission.expiresAt, context.now + context.policy.mendMs);
  return {
    events: [{ type: "review.rejected", gate: gate.name, reasons, expiresAt }],
    token: "rotate",
    dropJobs: [escalationJob(submission.submissionId)],
  };
}
