import type { ErrorType, FieldError, NextAction } from "@formbridge/contract";
import type { ContractError } from "./error.ts";
import { type Filler, handOverFor, mayFill } from "./fields/fills.ts";
import { announceAction } from "./files/refusals.ts";
import type { Submission } from "./submission.ts";
import { isEditable, isTerminal } from "./transitions.ts";

/** What to do about a missing or invalid field: fill it in, upload a file, or hand off to a human. */
export function fieldAction(field: FieldError, filler: Filler): NextAction {
  const { intake } = filler;
  const { path, message } = field;
  const rule = intake.ruleAt(intake.pathOf(path));
  if (rule.fill === "human" && !mayFill(rule, filler)) return handOverFor(field, intake);
  return rule.file === undefined
    ? { action: "collect_field", field: path, hint: message }
    : announceAction(path, message, intake);
}

const REREAD: NextAction = {
  action: "fetch_current_state",
  hint: "Read the submission to see its current state, and continue from there.",
};

/** For error types where the submission's state makes no difference. */
const BY_TYPE: Partial<Record<ErrorType, NextAction>> = {
  token_required: {
    action: "fetch_current_state",
    hint: "Read the submission, and call again with its resumeToken or version.",
  },
  needs_approval: { action: "wait_for_review", hint: "Wait for the decision. A rejection opens it again." },
  delivery_failed: { action: "retry_delivery", hint: "Restart the delivery." },
  locked: { action: "fetch_current_state", hint: "Wait, then send the same call again. It gets the same response." },
  rate_limited: { action: "fetch_current_state", hint: "Wait, then send the same call again." },
  service_unavailable: {
    action: "fetch_current_state",
    hint: "Wait, then read the submission to see whether the call took effect. If not, send it again.",
  },
};

const ASK_HOLDER: NextAction = {
  action: "request_handoff",
  hint: "Ask whoever holds the submission to do this, or to give you a link.",
};

/** For operations that need a role which the caller's API key doesn't have. */
export const askAdmin = (): NextAction[] => [
  { action: "fetch_current_state", hint: "Ask an admin of this server to do it. You can still read the submission." },
];

/** What a caller can do after a refusal that doesn't say so itself. */
export function nextActionsFor(
  { type, detail }: ContractError,
  about: Filler & { submission: Submission },
): NextAction[] {
  if (detail.fields !== undefined && detail.fields.length > 0) {
    return detail.fields.map((field) => fieldAction(field, about));
  }
  if (type === "forbidden") return [notAllowed(about.submission)];
  return [BY_TYPE[type] ?? byState(about.submission)];
}

/** Only an editable submission can be handed off. */
function notAllowed(submission: Submission): NextAction {
  if (isEditable(submission.state)) return ASK_HOLDER;
  return isTerminal(submission.state) ? REREAD : byState(submission);
}

function byState({ state }: Submission): NextAction {
  if (isEditable(state)) return REREAD;
  if (isTerminal(state)) {
    return { action: "create_new_submission", hint: "This submission has ended. Create a new one to continue." };
  }
  if (state === "needs_review") return { action: "wait_for_review", hint: "Wait for the reviewers' decision." };
  return { action: "fetch_current_state", hint: "Wait for the delivery. Read the submission to see its state." };
}
