/**
 * The rules of sessions: who may open one, what it allows, and when it ends.
 *
 *   link issued ──▶ open ──(opened: a separate session for each browser)──▶ open
 *                    │
 *                    ├──▶ spent     a magic link's code was used, or entered wrongly too often; a direct link's token was rotated
 *                    ├──▶ expired   its deadline has passed
 *                    └──▶ revoked   explicitly, or with the submission's tokens
 *
 * A session lasts until it expires, its hand-off is revoked, or its submission expires; on a submission that
 * ended otherwise it can still read. Rotating tokens doesn't affect it.
 */
import type { Actor, HANDOFF_STATUSES, NextAction } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Hash } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import { isPast, type Policy } from "../policy.ts";
import type { Submission } from "../submission.ts";
import { isEditable } from "../transitions.ts";
import type { Handoff, Session } from "./handoff.ts";

/** How many browsers can work through one link; the oldest session makes room for a new one. */
const MAX_SESSIONS = 20;

export type HandoffStatus = (typeof HANDOFF_STATUSES)[number];

interface Clock {
  now: Instant;
  policy: Policy;
}

export const isRevoked = (handoff: Handoff, submission: Submission): boolean =>
  handoff.revokedAt !== undefined || handoff.epoch !== submission.epoch;

/** Whether the link can still be opened, or why not. */
export function statusOf(handoff: Handoff, submission: Submission, { now, policy }: Clock): HandoffStatus {
  if (isRevoked(handoff, submission)) return "revoked";
  const { code, version = submission.version } = handoff;
  if (code?.spent === true || code?.triesLeft === 0 || version !== submission.version) return "spent";
  return isPast(handoff.expiresAt, now, policy) ? "expired" : "open";
}

/** The status of a presented session, regardless of its submission's state. */
export type SessionStatus = "current" | "revoked" | "elapsed";

export function sessionStatusOf(
  { handoff, session }: { handoff: Handoff; session: Session },
  submission: Submission,
  { now, policy }: Clock,
): SessionStatus {
  if (isRevoked(handoff, submission)) return "revoked";
  return isPast(session.expiresAt, now, policy) ? "elapsed" : "current";
}

/** 410: the session or the link has ended. */
export function sessionOverError(
  about: { submissionId: string; endedAt: Instant; now: Instant },
  reason: "ttl_elapsed" | "handoff_revoked" | "code_spent",
): ContractError {
  const words = {
    ttl_elapsed: "The hand-off has expired.",
    handoff_revoked: "The hand-off was revoked.",
    code_spent: "The code was already used, or entered wrongly too often.",
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

/** The hint names nobody: the person with the link should know who they are. */
const SAY_WHO: NextAction = {
  action: "collect_field",
  field: "actor",
  hint: "Name yourself in actor, with the kind and id that the hand-off was created for.",
};

const isNamed = (actor: Actor, { kind, id }: Actor): boolean => actor.kind === kind && actor.id === id;

/**
 * Who works in the session: one of the allowed actors; by default the only one, or the human that the link was made
 * for. If anyone is allowed, the name they give is recorded as declared.
 */
export function actorOfSession(handoff: Handoff, given: Actor | undefined, fallback: string): Actor {
  const { allowedActors } = handoff;
  if (allowedActors === undefined) {
    if (given === undefined) return { kind: "human", id: fallback };
    if (given.kind === "human") return { ...given, declared: true };
    throw new ContractError("forbidden", "This hand-off is for humans.", { nextActions: [SAY_WHO] });
  }
  const [only, ...others] = allowedActors;
  if (given === undefined) {
    if (only !== undefined && others.length === 0) return only;
    throw whoIsThere(allowedActors);
  }
  const allowed = allowedActors.find((actor) => isNamed(actor, given));
  if (allowed === undefined) {
    throw new ContractError("forbidden", "This hand-off is for somebody else.", { nextActions: [SAY_WHO] });
  }
  return allowed;
}

/** Only someone with the link learns who it is for: the page asks which of these they are. */
function whoIsThere(allowedActors: readonly Actor[]): ContractError {
  const message = "actor is needed: this hand-off is for several people.";
  const expected = allowedActors.map(({ kind, id, name }) => ({ kind, id, ...(name !== undefined && { name }) }));
  return new ContractError("bad_request", message, {
    fields: [{ path: "actor", code: "required", message, expected }],
    nextActions: [SAY_WHO],
  });
}

/** The code from a mail proves that the address is theirs, whatever name they give. */
export const withAddress = (actor: Actor, email: string | undefined): Actor =>
  email === undefined || actor.id === email ? actor : { ...actor, metadata: { ...actor.metadata, email } };

/**
 * The hand-off with one more session. Sessions of a plain link end with the link; those of a code or a QR code have
 * their own time to live.
 */
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

/** The hand-off after a wrong code or address. */
export const withFailedTry = (handoff: Handoff): Handoff =>
  handoff.code === undefined
    ? handoff
    : { ...handoff, code: { ...handoff.code, triesLeft: Math.max(0, handoff.code.triesLeft - 1) } };
