import type { Actor, EventActor, EventType, JsonObject } from "@formbridge/contract";
import type { Decision } from "../decide/decision.ts";
import type { DomainEvent } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { Person, Submission } from "../submission.ts";
import { isTerminal } from "../transitions.ts";
import {
  accessedPayload,
  createdPayload,
  expiredPayload,
  handedOffPayload,
  rotatedPayload,
  type TokenUse,
} from "./audit-payloads.ts";
import { isBearer, UNKNOWN_BEARER } from "./bearer.ts";

export interface AuditLine {
  type: EventType;
  payload: JsonObject;
}

/** The actor in the event; a bearer who gave no name has kind `unknown`. */
export const actorOf = (type: EventType, actor: Actor): EventActor =>
  type === "token.accessed" && isBearer(actor) ? UNKNOWN_BEARER : actor;

export interface TokenMoved {
  before: Submission;
  after: Submission;
  use: TokenUse;
  decision: Decision;
  now: Instant;
}

/** The token events of a change, in order. */
export function tokenAudit(moved: TokenMoved): AuditLine[] {
  const lines = moved.decision.token === "keep" ? keptToken(moved) : movedToken(moved);
  const { before, after, use } = moved;
  const changes = handsOff(before.lastPerson, after.lastPerson);
  return changes === undefined
    ? lines
    : [...lines, { type: "token.handed_off", payload: handedOffPayload(use, changes.from, changes.to) }];
}

/** From an agent to a human or back. The first actor doesn't take over from anyone. */
export function handsOff(from: Person | undefined, to: Person | undefined): { from: Person; to: Person } | undefined {
  return from === undefined || to === undefined || from.kind === to.kind ? undefined : { from, to };
}

/** Revoking, renewing and erasing aren't part of filling in a form. */
const NOT_ACTING = new Set(["revokeTokens", "renewToken", "revokeHandoff", "erase", "failedCode"]);

/** The agent or human who acts; undefined for the system, an operator who revokes access, or a bare token. */
export function personActing(operation: string, actor: Actor): Person | undefined {
  const { kind, id } = actor;
  return kind === "system" || NOT_ACTING.has(operation) || isBearer(actor) ? undefined : { kind, id };
}

function keptToken({ before, use, decision }: TokenMoved): AuditLine[] {
  if (decision.lapses === true) return [expired({ before, use }, "ttl", before.token.expiresAt)];
  const isOwn = decision.audit !== undefined || (use.tokenHash === undefined && use.handoffId === undefined);
  return isOwn ? [] : [{ type: "token.accessed", payload: accessedPayload(use) }];
}

function movedToken(moved: TokenMoved): AuditLine[] {
  const { before, after, use, decision, now } = moved;
  const created: AuditLine = { type: "token.created", payload: createdPayload(use, after) };
  if (before.version === 0) return [created];
  // A revoked or lapsed token has already had its event.
  const isLive = !before.tokensRevoked && before.token.lapsed !== true;
  if (decision.token === "reissue") return isLive ? [expired(moved, "admin_revoked", now), created] : [created];
  if (decision.token === "renew") return isLive ? [expired(moved, "ttl", before.token.expiresAt), created] : [created];
  if (isLive && decision.token === "revoke") return [expired(moved, "admin_revoked", now)];
  if (isLive && after.state === "expired") return [expired(moved, "ttl", Math.min(before.token.expiresAt, now))];
  const ends = isLive && isTerminal(after.state);
  return [rotated(moved), ...(ends ? [expired(moved, "terminal_state", now)] : [])];
}

function rotated({ before, after, use, decision }: TokenMoved): AuditLine {
  const payload = rotatedPayload(use, { before, after, fieldsChanged: decision.events.flatMap(changedPaths) });
  switch (use.operation) {
    case "submit":
      return { type: "token.submitted", payload: { ...payload, finalState: after.state } };
    case "cancel": {
      const [reason] = decision.events.flatMap((event) =>
        event.type === "submission.cancelled" && event.reason !== undefined ? [event.reason] : [],
      );
      return { type: "token.cancelled", payload: { ...payload, ...(reason !== undefined && { reason }) } };
    }
    default:
      return { type: "token.updated", payload };
  }
}

function changedPaths(event: DomainEvent): string[] {
  if (event.type === "upload.completed") return [event.path.join(".")];
  if (event.type !== "field.updated") return [];
  return [...event.set.map(({ path }) => path), ...event.removed].map((path) => path.join("."));
}

/** About the token that was current before the change, whose holder is affected. */
function expired(
  { before, after = before, use }: { before: Submission; after?: Submission; use: TokenUse },
  reason: Parameters<typeof expiredPayload>[1]["reason"],
  expiredAt: Instant,
): AuditLine {
  const about = { tokenHash: before.token.hash, reason, finalState: after.state, expiredAt };
  return { type: "token.expired", payload: expiredPayload(use, about) };
}
