import type { ErrorType } from "@formbridge/contract";
import { sha256 } from "@formbridge/core";
import { actorOf, INTAKES, type Player } from "./cast.ts";
import { canonical } from "./chain-check.ts";
import { type Effect, effectOf, type Standpoint } from "./effects.ts";
import {
  type Call,
  GRACE,
  handoffOf,
  isDue,
  isEnded,
  isOpen,
  isOver,
  isRevoked,
  type Memory,
  SKEW,
  type Sub,
  type Token,
  type View,
} from "./model.ts";

/** What the contract says about the outcome of a call, given its view. */
export type Verdict =
  | { type: "refuse"; error: ErrorType }
  | { type: "replay"; memory: Memory }
  /** The submission is overdue: no response may be based on this view. */
  | { type: "due" }
  | { type: "read"; sight: Sight }
  | { type: "do"; effect: Effect };

/** All values, the sensitive ones masked, or none. */
export type Sight = "all" | "masked" | "none";

const refuse = (error: ErrorType): Verdict => ({ type: "refuse", error });

const hasRole = ({ roles }: Player, ...wanted: string[]): boolean => roles.some((role) => wanted.includes(role));
const isCreator = (player: Player, { createdBy }: Sub): boolean =>
  hasRole(player, "agent") &&
  createdBy.declared !== true &&
  createdBy.kind === player.actor.kind &&
  createdBy.id === player.actor.id;

export const mayHold = (player: Player, sub: Sub): boolean =>
  player.apiKey !== undefined && player.tenant === sub.tenant && (hasRole(player, "admin") || isCreator(player, sub));

const maySee = (player: Player, sub: Sub): boolean =>
  player.tenant === sub.tenant &&
  (hasRole(player, "admin", "viewer") ||
    isCreator(player, sub) ||
    (hasRole(player, "reviewer") && "approvalGates" in INTAKES[sub.intake]));

export type Standing = "none" | "current" | "stale" | "revoked" | "elapsed";
export function standing(token: Token | undefined, sub: Sub, now: number): Standing {
  if (token === undefined) return "none";
  if (token.epoch !== sub.epoch || sub.revoked) return "revoked";
  if (now >= token.expiresAt + SKEW) return "elapsed";
  return token.version === sub.version ? "current" : "stale";
}

export const discloses = (sub: Sub): boolean => isOpen(sub) && sub.intake !== "hush";

/** Whose record it is. On a public intake, a key of another tenant is ignored. */
export function principalOf(call: Call, at: { tenant: string; before: Sub | undefined }): string {
  const { player, kind, session } = call;
  const handed = session === undefined ? undefined : handoffOf(at.before, sha256(session));
  if (handed !== undefined) return `handoff:${handed.id}`;
  const isKeyed = player.apiKey !== undefined && player.tenant === at.tenant;
  if (isKeyed) return `actor:${player.actor.id}`;
  return kind === "create" || at.before === undefined ? "idempotency-key" : `submission:${at.before.id}`;
}

export const carriedBy = (call: Call, { token, sub }: View): number =>
  token?.version ?? call.versions[0] ?? sub?.version ?? 0;

export function meaningOf(call: Call, view: View): string {
  if (call.kind === "create") return canonical([actorOf(call.player).id, call.fields ?? {}, call.ttlMs ?? null]);
  if (call.kind === "submit") return canonical([view.sub?.id, carriedBy(call, view)]);
  return canonical([view.sub?.id, call.fields]);
}

export function judge(flight: Standpoint, view: View): Verdict {
  const { call } = flight;
  const { player } = call;
  if (call.kind === "deliver") return effectVerdict(effectOf(flight, view));
  if (call.kind === "submit" && call.key === undefined) return refuse("invalid");
  if (!player.known) return refuse("unauthorized");
  if (call.kind === "create") return judgeCreate(flight, view);
  const isRead = call.kind === "get" || call.kind === "events";
  const isNobody = player.apiKey === undefined;
  if (call.kind === "openSession") return judgeOpening(flight, view);
  if (call.kind === "review" && isNobody) return refuse("unauthorized");
  if (call.session !== undefined) return judgeInSession(flight, view, call.session);
  if (call.token === undefined && isNobody) return refuse(isRead ? "unauthorized" : "token_required");
  if (call.token !== undefined && !/^rtok_[\w-]{43}$/.test(call.token)) return refuse("token_invalid");
  const { sub, token, now } = view;
  if (call.token !== undefined) {
    const here = sub !== undefined && token !== undefined && (call.submissionId ?? sub.id) === sub.id;
    if (!here || (!isNobody && player.tenant !== sub.tenant)) return refuse("token_invalid");
    if (standing(token, sub, now) === "revoked" && sub.state !== "expired") return refuse("token_expired");
  } else if (sub === undefined || !maySee(player, sub)) return refuse("not_found");
  return isRead ? judgeRead(call, { ...view, sub }) : judgeWrite(flight, { ...view, sub });
}

/** A link can be exchanged until its hand-off, or its submission, has ended. */
function judgeOpening(flight: Standpoint, view: View): Verdict {
  const { call } = flight;
  const { sub, now } = view;
  const hash = sha256(call.link ?? "");
  const handed = sub?.handed.find(({ link }) => link === hash);
  if (sub === undefined || handed === undefined || call.submissionId !== sub.id) return refuse("token_invalid");
  if (isDue(sub, now)) return { type: "due" };
  if (isEnded(sub)) return refuse(endedError(call, sub));
  if (isRevoked(handed, sub) || isOver(handed.expiresAt, now)) return refuse("token_expired");
  return effectVerdict(effectOf({ ...flight, call: { ...call, minted: { ...minted(call), link: hash } } }, view));
}

const minted = (call: Call): NonNullable<Call["minted"]> => call.minted ?? { handoffId: "", link: "", session: "" };

/** What only callers who may hold the token may do. */
const HOLDERS_ONLY = ["revoke", "reissue", "retryDelivery", "revokeHandoff"];

function judgeInSession(flight: Standpoint, view: View, session: string): Verdict {
  const { call } = flight;
  const { sub, now } = view;
  const hash = sha256(session);
  const handed = handoffOf(sub, hash);
  const own = handed?.sessions.find((one) => one.hash === hash);
  if (sub === undefined || handed === undefined || own === undefined) return refuse("token_invalid");
  if ((call.submissionId ?? sub.id) !== sub.id) return refuse("token_invalid");
  if (isRevoked(handed, sub)) return refuse("token_expired");
  const isElapsed = isOver(own.expiresAt, now);
  if (call.kind === "get" || call.kind === "events") {
    if (isDue(sub, now)) return { type: "due" };
    if (sub.state === "expired") return refuse("expired");
    return isElapsed ? refuse("token_expired") : { type: "read", sight: "all" };
  }
  if (HOLDERS_ONLY.includes(call.kind)) return refuse("forbidden");
  // A link changes neither version nor token: it needs none.
  if (call.versions.length === 0 && call.kind !== "handoff") return refuse("token_required");
  const recorded = weigh(call, { ...view, sub });
  if (recorded !== undefined) return recorded;
  if (isDue(sub, now)) return { type: "due" };
  if (isEnded(sub)) return refuse(endedError(call, sub));
  if (isElapsed) return refuse("token_expired");
  return judgeBasis(flight, { ...view, sub });
}

function judgeCreate({ call }: Standpoint, view: View): Verdict {
  const { player, intake: name } = call;
  const intake = INTAKES[name];
  const isPublic = "access" in intake;
  const sees = player.apiKey !== undefined && player.tenant === "default";
  if (!isPublic && player.apiKey === undefined) return refuse("unauthorized");
  if (!isPublic && !sees) return refuse("not_found");
  if (!isPublic && !hasRole(player, "agent", "admin")) return refuse("forbidden");
  const caller: Player = sees ? player : { name: player.name, known: true, tenant: "", roles: [], actor: player.actor };
  if (call.key !== undefined && !sees && call.key.length < 32) return refuse("bad_request");
  const { memory, sub } = view;
  if (memory !== undefined && call.key !== undefined) {
    const mine =
      memory.principal === principalOf(call, { tenant: "default", before: undefined }) &&
      memory.meaning === meaningOf(call, view);
    if (!mine) return refuse("conflict");
    if (sub !== undefined && isDue(sub, view.now)) return { type: "due" };
    if (sub?.state === "expired") return refuse("expired");
    return { type: "replay", memory };
  }
  return effectVerdict(effectOf({ call: { ...call, player: caller } }, view));
}

const effectVerdict = (effect: Effect | ErrorType): Verdict =>
  typeof effect === "string" ? refuse(effect) : { type: "do", effect };

function judgeRead(call: Call, view: View & { sub: Sub }): Verdict {
  const { sub, token, now } = view;
  if (isDue(sub, now)) return { type: "due" };
  const stands = standing(token, sub, now);
  if (stands === "none") return { type: "read", sight: "all" };
  if (sub.state === "expired") return refuse("expired");
  if (stands === "elapsed") return refuse("token_expired");
  if (stands === "current") return { type: "read", sight: "all" };
  const inGrace = token?.rotatedAt !== undefined && now < token.rotatedAt + GRACE;
  // A late reader gets what the 409 of a late writer would contain, no more.
  const sight = mayHold(call.player, sub) ? "all" : discloses(sub) ? "masked" : "none";
  return inGrace && !(sight === "none" && call.kind === "events") ? { type: "read", sight } : refuse("token_conflict");
}

/** Review, cancel and token administration decide for themselves what a locked submission means. */
const BY_KEY = ["review", "cancel", "revoke", "reissue", "retryDelivery", "revokeHandoff"];

function judgeWrite(flight: Standpoint, view: View & { sub: Sub }): Verdict {
  const { call } = flight;
  const { sub, token, now } = view;
  const byKey = BY_KEY.includes(call.kind);
  const keyAlone = call.kind === "revoke" || call.kind === "reissue";
  const isReview = call.kind === "review";
  if (isReview && !hasRole(call.player, "reviewer", "admin")) return refuse("forbidden");
  if (!isReview && (token === undefined || keyAlone) && !mayHold(call.player, sub)) return refuse("forbidden");
  const needsVersion = !byKey && call.kind !== "validate";
  if (token === undefined && needsVersion && call.versions.length === 0) return refuse("token_required");
  const recorded = weigh(call, view);
  if (recorded !== undefined) return recorded;
  if (isDue(sub, now)) return { type: "due" };
  if (isEnded(sub)) return refuse(endedError(call, sub));
  if (standing(token, sub, now) === "elapsed") return refuse("token_expired");
  return judgeBasis(flight, view);
}

/** Based on the current version, of a submission that is not locked. */
function judgeBasis(flight: Standpoint, view: View & { sub: Sub }): Verdict {
  const { call } = flight;
  const { sub, token } = view;
  const byKey = BY_KEY.includes(call.kind);
  const bases = token === undefined ? call.versions : [token.version, ...call.versions];
  if (bases.some((version) => version !== sub.version)) return refuse("token_conflict");
  if (!byKey && sub.state === "needs_review") return refuse("needs_approval");
  if (!byKey && !isOpen(sub)) return refuse(isGivenUp(sub) ? "delivery_failed" : "conflict");
  return effectVerdict(effectOf(flight, view));
}

const isGivenUp = ({ state, givenUp }: Sub): boolean => givenUp && (state === "submitted" || state === "approved");

function endedError(call: Call, { state }: Sub): ErrorType {
  if (state === "cancelled" || state === "expired") return state;
  return call.kind === "cancel" ? "conflict" : "token_expired";
}

function weigh(call: Call, view: View & { sub: Sub }): Verdict | undefined {
  const { memory, sub } = view;
  if (memory === undefined || call.key === undefined || (call.kind !== "setFields" && call.kind !== "submit"))
    return undefined;
  const carried = carriedBy(call, view);
  const sameActor =
    call.player.apiKey !== undefined && memory.principal === principalOf(call, { tenant: sub.tenant, before: sub });
  const isMine = memory.principal === principalOf(call, { tenant: sub.tenant, before: sub });
  if (call.session !== undefined && !isMine) return refuse("conflict");
  const bears = memory.sub === sub.id && (carried === memory.carried || carried === sub.version);
  if (call.session === undefined && !sameActor && !bears) return refuse("conflict");
  const isLate = call.kind === "submit" && !memory.failed && memory.sub === sub.id && carried === sub.version;
  if (memory.meaning === meaningOf(call, view) || (isLate && sub.written <= memory.carried)) {
    return call.kind === "submit" && isGivenUp(sub) ? refuse("delivery_failed") : { type: "replay", memory };
  }
  const mended = memory.failed && memory.sub === sub.id && carried > memory.carried;
  return mended ? undefined : refuse("conflict");
}
