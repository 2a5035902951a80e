import { ContractError } from "../error.ts";
import type { Handoff } from "../handoffs/handoff.ts";
import { toIso } from "../instant.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface RevokeHandoff {
  handoffId: string;
  reason?: string;
}

/**
 * From now on the link can't be opened, and its sessions can neither read nor write; nor can links that were created in
 * its sessions, or the access would outlive its revocation.
 */
export function decideRevokeHandoff(
  submission: Submission,
  command: RevokeHandoff,
  context: DecideContext & { others: readonly Handoff[] },
): Decision {
  const { handoffId, reason } = command;
  const handoff = context.others.find((other) => other.handoffId === handoffId);
  if (handoff === undefined) return refuse(new ContractError("not_found", "This hand-off doesn't exist."));
  if (handoff.kind === "direct") {
    const message = "A direct link is the token itself: revoke the submission's tokens.";
    return refuse(new ContractError("conflict", message, { about: aboutOf(submission) }));
  }
  // Idempotent: a second call keeps the first time and records nothing.
  const ending = [handoff, ...context.others.filter(({ madeIn }) => madeIn?.includes(handoffId))];
  const told = {
    operation: "revokeHandoff",
    outcome: "success",
    reason: "handoff_revoked",
    finalState: submission.state,
    expiredAt: toIso(context.now),
    ...(reason !== undefined && { words: reason }),
  };
  return {
    events: [],
    token: "keep",
    side: ending.map((one) => ({
      kind: "handoff",
      handoff: { ...one, revokedAt: one.revokedAt ?? context.now },
    })),
    audit: ending.flatMap((one) =>
      one.revokedAt === undefined
        ? [{ type: "token.expired" as const, payload: { ...told, handoffId: one.handoffId } }]
        : [],
    ),
  };
}
