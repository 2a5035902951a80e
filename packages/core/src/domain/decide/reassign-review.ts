import type { FieldError, ReviewerGroup } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import { isAddress } from "../review/address.ts";
import { isBlank } from "../review/blank.ts";
import { gateOf, mostReviewers } from "../review/reviewers.ts";
import type { Submission } from "../submission.ts";
import { aboutOf, endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface ReassignReview {
  reviewers: ReviewerGroup;
  reason: string;
}

/** For a gate whose reviewers can't decide. It applies until the gate is decided, and keeps version and token. */
export function decideReassignReview(
  submission: Submission,
  { reviewers, reason }: ReassignReview,
  { now, intake }: DecideContext,
): Decision {
  const ended = endedError(submission, now);
  if (ended !== undefined) return refuse(ended);
  const about = aboutOf(submission);
  if (submission.state !== "needs_review") {
    return refuse(new ContractError("conflict", "The submission isn't waiting for a review.", { about }));
  }
  const gate = gateOf(submission, intake.definition.approvalGates);
  const { gateIndex, approvals } = submission.review;
  const open = (gate.requiredApprovals ?? 1) - approvals.length;
  const fields = problemsWith({ reviewers, reason }, open);
  if (fields.length > 0) {
    const message = fields.map((field) => field.message).join(" ");
    return refuse(new ContractError("invalid", message, { about, fields }));
  }
  return { events: [{ type: "review.reassigned", gateIndex, gate: gate.name, reviewers, reason }], token: "keep" };
}

function problemsWith({ reviewers, reason }: ReassignReview, open: number): FieldError[] {
  const problems: FieldError[] = [];
  const add = (path: string, message: string, code: FieldError["code"] = "invalid_value") =>
    problems.push({ path, code, message: `${path} ${message}` });
  if (isBlank(reason)) add("reason", "is needed, and may not be blank.", "required");
  const { ids = [], roles = [], emails = [] } = reviewers;
  if (ids.length + roles.length + emails.length === 0) add("reviewers", "names nobody.");
  else if (mostReviewers({ ids, roles, emails }) < open) {
    add("reviewers", `names fewer people than the ${open} approvals that the gate still needs.`);
  }
  for (const [name, list] of Object.entries({ ids, roles })) {
    for (const [index, text] of list.entries()) {
      if (isBlank(text)) add(`reviewers.${name}.${index}`, "is blank, so it names nobody.");
    }
  }
  for (const [index, email] of emails.entries()) {
    if (!isAddress(email)) add(`reviewers.emails.${index}`, "is not an e-mail address.", "invalid_format");
  }
  return problems;
}
