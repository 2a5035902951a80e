import type { Actor } from "@formbridge/contract";
import type { ContractError } from "../error.ts";
import type { Handoff } from "../handoffs/handoff.ts";
import { revokedAt, sessionOverError, statusOf, withFailedTry, withSession } from "../handoffs/sessions.ts";
import type { Hash } from "../hashing.ts";
import type { Instant } from "../instant.ts";
import type { Submission } from "../submission.ts";
import type { FailedUse } from "../tokens/audit-payloads.ts";
import { endedError } from "../tokens/refuse-ended.ts";
import { isTerminal } from "../transitions.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface OpenSession {
  handoff: Handoff;
  actor: Actor;
  /** Hash of the session's secret. */
  hash: Hash;
}

/** Why a link or code no longer works, for the caller and for the history; undefined while it does. */
export function linkClosed(
  submission: Submission,
  handoff: Handoff,
  clock: Pick<DecideContext, "now" | "policy">,
): { error: ContractError; reason: FailedUse } | undefined {
  const { now } = clock;
  const { submissionId, state } = submission;
  const ended = endedError(submission, now);
  if (ended !== undefined && isTerminal(state)) return { error: ended, reason: state };
  const over = (reason: "handoff_revoked" | "ttl_elapsed" | "code_spent", endedAt: Instant) => ({
    error: sessionOverError({ submissionId, endedAt, now }, reason),
    reason,
  });
  switch (statusOf(handoff, submission, clock)) {
    case "revoked":
      return over("handoff_revoked", revokedAt(handoff, submission));
    case "expired":
      return over("ttl_elapsed", handoff.expiresAt);
    case "spent":
      return over("code_spent", handoff.expiresAt);
    case "open":
      return undefined;
  }
}

/** The session gets its own secret; the link's is not used after this. */
export function decideOpenSession(submission: Submission, command: OpenSession, context: DecideContext): Decision {
  const { handoff, hash, actor } = command;
  const closed = linkClosed(submission, handoff, context);
  if (closed !== undefined) return refuse(closed.error);
  const after = withSession(handoff, { hash, actor }, { ...context, submission });
  const { handoffId } = handoff;
  return {
    events: [],
    token: "keep",
    side: [{ kind: "handoff", handoff: after.handoff }],
    audit: [{ type: "token.accessed", payload: { operation: "openSession", handoffId, outcome: "success" } }],
  };
}

/** A wrong code, or the right one with a wrong address, counts against every link that it could have been meant for. */
export const decideFailedCode = (handoffs: readonly Handoff[]): Decision => ({
  events: [],
  token: "keep",
  side: handoffs.map((handoff) => ({ kind: "handoff", handoff: withFailedTry(handoff) })),
  audit: handoffs.map(({ handoffId }) => ({
    type: "token.accessed",
    payload: { operation: "openSession", handoffId, outcome: "failure", reason: "wrong_code" },
  })),
});
