import { ContractError } from "../error.ts";
import type { Handoff } from "../handoffs/handoff.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface RevokeHandoff {
  handoffId: string;
  reason?: string;
}

/** From here on the link opens nothing, and what was opened through it neither reads nor writes. */
export function decideRevokeHandoff(
  submission: Submission,
  command: RevokeHandoff,
  context: DecideContext & { others: readonly Handoff[] },
): Decision {
  const { handoffId, reason } = command;
  const handoff = context.others.find((other) => other.handoffId === handoffId);
  if (handoff === undefined) return refuse(new ContractError("not_found", "There is no such hand-off."));
  if (handoff.kind === "direct") {
    const message = "A direct link is the token itself: revoke the submission's tokens.";
    return refuse(new ContractError("conflict", message, { about: aboutOf(submission) }));
  }
  // Once is enough: what a second call finds revoked stays as it was, and is not told again.
  const revoked: Handoff = { ...handoff, revokedAt: handoff.revokedAt ?? context.now };
  const told = { handoffId, reason: "handoff_revoked", ...(reason !== undefined && { words: reason }) };
  return {
    events: [],
    token: "keep",
    side: [{ kind: "handoff", handoff: revoked }],
    audit: handoff.revokedAt === undefined ? [{ type: "token.expired", payload: told }] : [],
  };
}
