import type { Actor } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import type { Handoff } from "../handoffs/handoff.ts";
import { isRevoked } from "../handoffs/sessions.ts";
import type { Submission } from "../submission.ts";
import type { DecideContext, Decision } from "./decision.ts";

/**
 * Keeps version and token: it records that the person is done, and what they left open. Repeated before the next write,
 * it records nothing.
 */
export function decideCompleteHandoff(submission: Submission, handoffId: string, { intake }: DecideContext): Decision {
  const { completedHandoff: last, version } = submission;
  if (last?.handoffId === handoffId && last.version === version) return { events: [], token: "keep" };
  return { events: [completed(handoffId, intake.validate(submission.fields).missing)], token: "keep" };
}

/**
 * Whether the bearer of the current token may complete this hand-off. A direct link has no session: whoever opened it
 * has only its token and the ones after it. An agent can't say that a human is done.
 */
export const isOwnDirectLink = (handoff: Handoff | undefined, submission: Submission, { kind }: Actor): boolean =>
  handoff?.kind === "direct" && !isRevoked(handoff, submission) && kind === "human";

/** Submitting in a session also completes its hand-off. */
export const withCompletion = (decision: Decision, handoffId: string | undefined): Decision =>
  handoffId === undefined || decision.refusal !== undefined
    ? decision
    : { ...decision, events: [completed(handoffId, []), ...decision.events] };

const completed = (handoffId: string, missing: string[]): DomainEvent => ({
  type: "handoff.completed",
  handoffId,
  missing,
});

export const notYourHandoff = (): ContractError =>
  new ContractError("forbidden", "Only the person the submission was handed to can complete this hand-off.", {
    nextActions: [
      { action: "fetch_current_state", hint: "Read the submission: completedHandoff appears when they are done." },
    ],
  });
