/**
 * The rules of sessions: who may open one, what it is worth, and when it ends.
 *
 *   link issued ──▶ open ──(opened: a session of its own for each browser)──▶ open
 *                    │
 *                    ├──▶ spent     a magic link's code was used, or tried too often; a direct link's token was rotated
 *                    ├──▶ expired   its time is over
 *                    └──▶ revoked   by hand, or with the submission's tokens
 *
 * A session lives until its own time is over, its hand-off is revoked, or its submission expires; on one that has ended otherwise it
 * still reads. Rotation of tokens does not touch it.
 */
import type { Actor, HANDOFF_STATUSES } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Hash } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable } from "../transitions.ts";
import type { Handoff, Session } from "./handoff.ts";

/** So many browsers work through one link; the one that came first gives way. */
const MAX_SESSIONS = 20;

export type HandoffStatus = (typeof HANDOFF_STATUSES)[number];

interface Clock {
  now: Instant;
  policy: Policy;
}

const isRevoked = (handoff: Handoff, submission: Submission): boolean =>
  handoff.revokedAt !== undefined || handoff.epoch !== submission.epoch;

/** Can the link still be opened, or why not? */
export function statusOf(handoff: Handoff, submission: Submission, { now, policy }: Clock): HandoffStatus {
  if (isRevoked(handoff, submission)) return "revoked";
  const { code, version = submission.version } = handoff;
  if (code?.spent === true || code?.triesLeft === 0 || version !== submission.version) return "spent";
  return isPast(handoff.expiresAt, now, policy) ? "expired" : "open";
}

/** How a presented session stands now. What its submission has come to is another question. */
export type SessionStanding = "current" | "revoked" | "elapsed";

export function sessionStanding(
  { handoff, session }: { handoff: Handoff; session: Session },
  submission: Submission,
  { now, policy }: Clock,
): SessionStanding {
  if (isRevoked(handoff, submission)) return "revoked";
  return isPast(session.expiresAt, now, policy) ? "elapsed" : "current";
}

/** 410: the session, or the link, is over. */
export function sessionOverError(
  about: { submissionId: string; endedAt: Instant; now: Instant },
  reason: "ttl_elapsed" | "handoff_revoked" | "code_spent",
): ContractError {
  const words = {
    ttl_elapsed: "The hand-off's time is over.",
    handoff_revoked: "The hand-off was revoked.",
    code_spent: "The code was used, or tried too often.",
  };
  return new ContractError("token_expired", words[reason], {
    about: { submissionId: about.submissionId },
    reason,
    expiredAt: toIso(about.endedAt),
    expiredFor: Math.max(0, about.now - about.endedAt),
    canRecover: true,
    recoveryMethod: "request_handoff",
    nextActions: [{ action: "request_handoff", hint: "Ask whoever gave you the link for a new one." }],
  });
}

/** When a hand-off, or the submission's tokens with it, were revoked. */
export const revokedAt = (handoff: Handoff, submission: Submission): Instant =>
  handoff.revokedAt ?? submission.epochSince;

const isNamed = (actor: Actor, { kind, id }: Actor): boolean => actor.kind === kind && actor.id === id;

/**
 * Who works in the session: one of those who may; by default the only one, or the human that the link was made for. Where anybody may
 * come, a name that they give is what they say of themselves.
 */
export function actorOfSession(handoff: Handoff, given: Actor | undefined, fallback: string): Actor {
  const { allowedActors } = handoff;
  if (allowedActors === undefined) {
    if (given === undefined) return { kind: "human", id: fallback };
    if (given.kind === "human") return { ...given, declared: true };
    throw new ContractError("forbidden", "This hand-off is for humans.");
  }
  const [only, ...others] = allowedActors;
  if (given === undefined) {
    if (only !== undefined && others.length === 0) return only;
    throw new ContractError("bad_request", "actor is needed: this hand-off is for several.");
  }
  const allowed = allowedActors.find((actor) => isNamed(actor, given));
  if (allowed === undefined) throw new ContractError("forbidden", "This hand-off is for other actors.");
  return allowed;
}

/** Whoever brings the code of a mail has shown that its address is theirs, by whatever name they go. */
export const withAddress = (actor: Actor, email: string | undefined): Actor =>
  email === undefined || actor.id === email ? actor : { ...actor, metadata: { ...actor.metadata, email } };

/** The hand-off with one more session. A plain link's sessions end with the link; those of a code or an image live their own time. */
export function withSession(
  handoff: Handoff,
  opened: { hash: Hash; actor: Actor },
  { submission, now, policy }: Clock & { submission: Submission },
): { handoff: Handoff; session: Session } {
  const until = handoff.kind === "session" ? handoff.expiresAt : now + policy.sessionTtlMs;
  const expiresAt = isEditable(submission.state) ? Math.min(until, submission.expiresAt) : until;
  const session = { ...opened, openedAt: now, expiresAt };
  const after: Handoff = {
    ...handoff,
    sessions: [...handoff.sessions, session].slice(-MAX_SESSIONS),
    forgetAfter: Math.max(handoff.forgetAfter, expiresAt),
    ...(handoff.code && { code: { ...handoff.code, spent: true } }),
  };
  return { handoff: after, session };
}

/** The hand-off after somebody had the code or the address wrong. */
export const withFailedTry = (handoff: Handoff): Handoff =>
  handoff.code === undefined
    ? handoff
    : { ...handoff, code: { ...handoff.code, triesLeft: Math.max(0, handoff.code.triesLeft - 1) } };
