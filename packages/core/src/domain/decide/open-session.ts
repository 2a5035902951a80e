import type { Actor } from "@formbridge/contract";
import type { Handoff } from "../handoffs/handoff.ts";
import { revokedAt, sessionOverError, statusOf, withFailedTry, withSession } from "../handoffs/sessions.ts";
import type { Hash } from "../hashing.ts";
import type { Submission } from "../submission.ts";
import { endedError } from "../tokens/refuse-ended.ts";
import { type DecideContext, type Decision, refuse } from "./decision.ts";

export interface OpenSession {
  handoff: Handoff;
  actor: Actor;
  /** Hash of the secret that the session will be known by. */
  hash: Hash;
}

/** The link's own secret stays in the link: what works from now on is another one. */
export function decideOpenSession(submission: Submission, command: OpenSession, context: DecideContext): Decision {
  const { handoff, hash, actor } = command;
  const { now } = context;
  const { submissionId } = submission;
  const ended = endedError(submission, now);
  if (ended !== undefined) return refuse(ended);
  switch (statusOf(handoff, submission, context)) {
    case "revoked":
      return refuse(
        sessionOverError({ submissionId, endedAt: revokedAt(handoff, submission), now }, "handoff_revoked"),
      );
    case "expired":
      return refuse(sessionOverError({ submissionId, endedAt: handoff.expiresAt, now }, "ttl_elapsed"));
    case "spent":
      return refuse(sessionOverError({ submissionId, endedAt: handoff.expiresAt, now }, "code_spent"));
    case "open": {
      const after = withSession(handoff, { hash, actor }, { ...context, submission });
      const { handoffId } = handoff;
      return {
        events: [],
        token: "keep",
        side: [{ kind: "handoff", handoff: after.handoff }],
        audit: [{ type: "token.accessed", payload: { operation: "openSession", handoffId, outcome: "success" } }],
      };
    }
  }
}

/** A wrong code, or the right one with a wrong address, is counted against every link that it may have been meant for. */
export const decideFailedCode = (handoffs: readonly Handoff[]): Decision => ({
  events: [],
  token: "keep",
  side: handoffs.map((handoff) => ({ kind: "handoff", handoff: withFailedTry(handoff) })),
  audit: handoffs.map(({ handoffId }) => ({
    type: "token.accessed",
    payload: { operation: "openSession", handoffId, outcome: "failure" },
  })),
});
