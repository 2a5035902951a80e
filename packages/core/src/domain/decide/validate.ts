import type { DomainEvent } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { Findings } from "../intake/compiled-intake.ts";
import type { Submission } from "../submission.ts";
import { type EditableState, isEditable } from "../transitions.ts";
import type { DecideContext, Decision } from "./decision.ts";

/** Announced, not arrived, and still able to: an announcement whose time is over holds nobody up. */
export const pendingUploads = (submission: Submission, now: Instant) =>
  submission.uploads.filter((upload) => upload.confirmed === undefined && now < upload.expiresAt);

/** The state that a validation finds. A rejection stays visible, and an untouched draft a draft, until somebody writes. */
export function stateFound(submission: Submission, findings: Findings, now: Instant): EditableState {
  const { state } = submission;
  if (!isEditable(state)) throw new Error(`nothing is validated in ${state}`);
  if (state === "rejected") return state;
  if (findings.errors.length > 0) return "awaiting_input";
  if (pendingUploads(submission, now).length > 0) return "awaiting_upload";
  return state === "draft" ? "draft" : "in_progress";
}

/** Records what it finds, and moves neither version nor token. */
export function decideValidate(submission: Submission, context: DecideContext): Decision {
  const findings = context.intake.validate(submission.fields);
  const to = stateFound(submission, findings, context.now);
  const passed = findings.errors.length === 0 && pendingUploads(submission, context.now).length === 0;
  const event: DomainEvent = passed
    ? { type: "validation.passed", to }
    : { type: "validation.failed", to, missing: findings.missing, errors: findings.errors };
  return { events: [event], token: "keep" };
}
