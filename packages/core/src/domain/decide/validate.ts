import type { FieldError } from "@formbridge/contract";
import type { DomainEvent } from "../events.ts";
import { pendingUploads } from "../files/pending.ts";
import { fieldsOnceArrived } from "../files/placement.ts";
import { pendingProblem } from "../files/refusals.ts";
import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Submission, Upload } from "../submission.ts";
import { type EditableState, isEditable } from "../transitions.ts";
import type { DecideContext, Decision } from "./decision.ts";

/** Everything that prevents a submit. */
export interface Problems {
  pending: Upload[];
  /** Required values that are absent now. */
  missing: string[];
  /** Required values that will still be absent when all announced files have arrived. */
  missingOtherwise: string[];
  /** Problems other than announced files, then one for each field that waits for a file. */
  errors: FieldError[];
  /** Whether anything is wrong other than announced files that haven't arrived. */
  hasOthers: boolean;
}

/** An announced file is a pending upload, not a missing value: fields are validated as if it had arrived. */
export function problemsOf(
  submission: Submission,
  { intake, now }: { intake: CompiledIntake; now: Instant },
): Problems {
  const pending = pendingUploads(submission, now);
  const found = intake.validate(submission.fields);
  if (pending.length === 0) {
    const { missing, errors } = found;
    return { pending, missing, missingOtherwise: missing, errors, hasOthers: errors.length > 0 };
  }
  const others = intake.validate(fieldsOnceArrived(submission.fields, pending, intake));
  const errors = [...others.errors];
  for (const upload of pending) {
    if (!errors.some(({ path }) => path === upload.field)) errors.push(pendingProblem(upload));
  }
  const hasOthers = others.errors.length > 0;
  return { pending, missing: found.missing, missingOtherwise: others.missing, errors, hasOthers };
}

/**
 * The state after a validation. A rejection stays visible, and an untouched draft stays a draft, until somebody writes.
 */
export function stateFound({ state }: Submission, { pending, hasOthers }: Problems): EditableState {
  if (!isEditable(state)) throw new Error(`a submission in state ${state} can't be validated`);
  if (state === "rejected") return state;
  if (hasOthers) return "awaiting_input";
  if (pending.length > 0) return "awaiting_upload";
  return state === "draft" ? "draft" : "in_progress";
}

/** Records the findings, and keeps version and token. */
export function decideValidate(submission: Submission, context: DecideContext): Decision {
  const problems = problemsOf(submission, context);
  const to = stateFound(submission, problems);
  const { missing, errors } = problems;
  const event: DomainEvent =
    errors.length === 0 ? { type: "validation.passed", to } : { type: "validation.failed", to, missing, errors };
  return { events: [event], token: "keep" };
}
