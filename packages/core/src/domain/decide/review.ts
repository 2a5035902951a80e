import type { ApprovalGate, FieldError, ReviewRequest, Role } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { isBlank } from "../review/blank.ts";
import { barredFrom, gateOf } from "../review/reviewers.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, escalationJob, refuse } from "./decision.ts";
import { routeOnward } from "./route-onward.ts";

/** A reviewer's decision. */
export type Verdict = Pick<ReviewRequest, "decision" | "reasons" | "fieldReasons" | "comment">;

/** Only the verdict from what a caller sent. */
export const verdictOf = ({ decision, reasons, fieldReasons, comment }: Verdict): Verdict => ({
  decision,
  ...(reasons !== undefined && { reasons }),
  ...(fieldReasons !== undefined && { fieldReasons }),
  ...(comment !== undefined && { comment }),
});

export interface Review extends Verdict {
  /** Roles of the reviewer's API key. */
  roles: readonly Role[];
}

export function decideReview(submission: Submission, command: Review, context: DecideContext): Decision {
  const ended = endedError(submission, context.now);
  if (ended !== undefined) return refuse(ended);
  if (submission.state !== "needs_review") {
    return refuse(
      new ContractError("conflict", "The submission isn't waiting for a review.", { about: aboutOf(submission) }),
    );
  }
  const gate = gateOf(submission, context.intake.definition.approvalGates);
  const barred = barredFrom(submission, gate, { actor: context.actor, roles: command.roles });
  if (barred !== undefined) return refuse(barred);
  const wrong = faultsOf(command, context.intake);
  if (wrong.length > 0) {
    const [first] = wrong;
    return refuse(new ContractError("invalid", first?.message ?? "", { about: aboutOf(submission), fields: wrong }));
  }
  return command.decision === "approved"
    ? approve(submission, gate, { command, context })
    : reject(submission, gate, { command, context });
}

function approve(
  submission: Submission & { state: "needs_review" },
  gate: ApprovalGate,
  { command: { comment }, context }: { command: Verdict; context: DecideContext },
): Decision {
  const { gateIndex, approvals } = submission.review;
  const gates = context.intake.definition.approvalGates ?? [];
  const base = {
    type: "review.approved",
    gateIndex,
    gate: gate.name,
    auto: false,
    ...(comment !== undefined && { comment }),
  } as const;
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

/** What is wrong with a verdict itself, independent of the reviewer. */
function faultsOf(verdict: Verdict, intake: CompiledIntake): FieldError[] {
  const { decision, reasons = [], fieldReasons = {}, comment } = verdict;
  const about = Object.entries(fieldReasons);
  if (decision === "approved") {
    if (comment !== undefined && isBlank(comment))
      return [{ path: "comment", code: "invalid_value", message: "The comment is blank. Leave it out or write one." }];
    if (about.length === 0) return [];
    const message = "fieldReasons say why something is rejected. Reject it, or leave them out.";
    return [{ path: "fieldReasons", code: "invalid_value", message }];
  }
  if (comment !== undefined) {
    return [
      { path: "comment", code: "invalid_value", message: "A rejection can't have a comment. Put it into reasons." },
    ];
  }
  if (reasons.length + about.length === 0 || [...reasons, ...Object.values(fieldReasons)].some(isBlank)) {
    const message = "Rejecting needs reasons or fieldReasons, and none of them may be blank.";
    return [{ path: "reasons", code: "required", message }];
  }
  return about
    .filter(([path]) => !intake.ruleAt(intake.pathOf(path)).allowed)
    .map(([path]) => ({
      path: `fieldReasons.${path}`,
      code: "invalid_value" as const,
      message: `The intake has no field ${path}.`,
    }));
}

function reject(
  submission: Submission,
  gate: ApprovalGate,
  { command: { reasons = [], fieldReasons }, context }: { command: Verdict; context: DecideContext },
): Decision {
  const said = { reasons, ...(fieldReasons && Object.keys(fieldReasons).length > 0 && { fieldReasons }) };
  const expiresAt = Math.max(submission.expiresAt, context.now + context.policy.mendMs);
  return {
    events: [{ type: "review.rejected", gate: gate.name, ...said, expiresAt }],
    token: "rotate",
    dropJobs: [escalationJob(submission.submissionId)],
  };
}
