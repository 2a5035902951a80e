import type { Actor, ErrorType, JsonObject, SubmissionState } from "@formbridge/contract";
import { DEFAULT_POLICY } from "@formbridge/core";
import type { IntakeName, Player } from "./cast.ts";

/** A submission as a reader of the contract would track it. Never changed in place: a view keeps its copy. */
export interface Sub {
  id: string;
  tenant: string;
  intake: IntakeName;
  state: SubmissionState;
  version: number;
  revision: number;
  epoch: number;
  revoked: boolean;
  fields: JsonObject;
  createdBy: Actor;
  submittedBy?: Actor;
  createdAt: number;
  ttlMs: number;
  expiresAt: number;
  endedAt?: number;
  replayCount: number;
  /** The version that last changed its values, or rejected them. */
  written: number;
  uploads: readonly Upload[];
  gate: number;
  approvals: readonly string[];
  delivering: boolean;
  /** The last delivery attempt failed. */
  givenUp: boolean;
  /** How often it was submitted: a review is of one of these times. */
  round: number;
  /** Length of the submission stream. */
  seq: number;
  /** Hash of its last event. */
  head: string;
  /** Hash of the current token. */
  token: string;
  handed: readonly Handed[];
}

/** A hand-off, and who opened its link. */
export interface Handed {
  id: string;
  link: string;
  epoch: number;
  expiresAt: number;
  revoked: boolean;
  sessions: readonly { hash: string; expiresAt: number }[];
  /** The hand-offs in whose sessions it was created: revoking one of them revokes it too. */
  madeIn: readonly string[];
}

export interface Upload {
  id: string;
  /** Older uploads that it replaced. */
  supersedes: readonly string[];
  sizeBytes: number;
  confirmed: boolean;
  expiresAt: number;
}

export interface Token {
  hash: string;
  sub: string;
  version: number;
  epoch: number;
  expiresAt: number;
  rotatedAt?: number;
}

/** What is stored under an idempotency key. */
export interface Memory {
  scope: string;
  sub: string;
  principal: string;
  carried: number;
  meaning: string;
  failed: boolean;
  expiresAt: number;
  outlives: boolean;
  /** The response, once somebody has seen it. */
  answer?: string;
  /** The token in it, once it was returned. */
  token?: unknown;
}

export type Kind =
  | "create"
  | "setFields"
  | "validate"
  | "requestUpload"
  | "confirmUpload"
  | "submit"
  | "review"
  | "cancel"
  | "revoke"
  | "reissue"
  | "retryDelivery"
  | "handoff"
  | "openSession"
  | "revokeHandoff"
  | "get"
  | "events"
  | "list"
  | "sweep"
  | "flush"
  | "deliver";

/** A call, as its caller means it. */
export interface Call {
  kind: Kind;
  player: Player;
  intake: IntakeName;
  submissionId?: string;
  token?: string;
  /** The secret of a session: the caller is the person who opened it. */
  session?: string;
  /** What a link carries. */
  link?: string;
  handoffId?: string;
  /** Hashes that the product made up for this call. */
  minted?: { handoffId: string; link: string; session: string };
  versions: readonly number[];
  key?: string;
  fields?: JsonObject;
  ttlMs?: number;
  uploadId?: string;
  sizeBytes?: number;
  mimeType?: string;
  decision?: "approved" | "rejected";
  reasons?: string[];
  outcome?: "attempt" | "success" | "failure";
}

/** What a call is based on: the model at its last read from the store. */
export interface View {
  now: number;
  sub?: Sub;
  token?: Token;
  memory?: Memory;
}

/** A change that reached the store while a call was in flight. */
export interface Applied {
  by: "caller" | "replay" | "system";
  before?: Sub;
  after: Sub;
  tokenHash?: string;
  refusal?: ErrorType;
}

/** A call in flight. */
export interface Flight {
  id: number;
  call: Call;
  view: View;
  /** When a create last read its intake: that is its time. */
  began: number;
  /** By submission, for calls that read many. */
  looks: Map<string, number>;
  applied: Applied[];
  fault?: "down" | "unknown" | "crash" | "locked";
  /** What the storage of files found for it. */
  inspected?: { sizeBytes: number; sha256: string; sniffedType: string } | undefined;
  lost: boolean;
  /** What a reviewer saw when the call came in. */
  round?: number;
  /** The record that this call made. */
  recorded?: Memory;
}

export const SKEW = DEFAULT_POLICY.clockSkewMs;
export const GRACE = DEFAULT_POLICY.staleReadGraceMs;
export const KEEP = DEFAULT_POLICY.idempotencyTtlMs;
export const MEND = DEFAULT_POLICY.mendMs;
export const UPLOAD_TTL = DEFAULT_POLICY.uploadTtlMs;
export const SESSION_TTL = DEFAULT_POLICY.sessionTtlMs;
export const DEFAULT_TTL = DEFAULT_POLICY.submissionTtlMs;

const EDITABLE: readonly string[] = ["draft", "in_progress", "awaiting_input", "awaiting_upload", "rejected"];
const ENDED: readonly string[] = ["finalized", "cancelled", "expired"];
export const isOpen = (sub: Sub): boolean => EDITABLE.includes(sub.state);
export const isEnded = (sub: Sub): boolean => ENDED.includes(sub.state);
export const isDue = (sub: Sub, now: number): boolean => isOpen(sub) && now >= sub.expiresAt + SKEW;

/** The hand-off that a session belongs to, by the session's hash. */
export const handoffOf = (sub: Sub | undefined, session: string): Handed | undefined =>
  sub?.handed.find(({ sessions }) => sessions.some(({ hash }) => hash === session));

/** Can a link still be opened, as far as its hand-off goes? */
export const isRevoked = (handed: Handed, sub: Sub): boolean => handed.revoked || handed.epoch !== sub.epoch;
export const isOver = (deadline: number, now: number): boolean => now >= deadline + SKEW;

/** The process died between the store and its response: the caller gets nothing defined by the contract. */
export class Crash extends Error {}

/** Something that must never happen did. */
export class Violation extends Error {
  override name = "Violation";
}

export function must(holds: boolean, what: string | (() => string)): asserts holds {
  if (!holds) throw new Violation(typeof what === "string" ? what : what());
}

/** RFC 7396 with dot-paths at the top, for values that the schema does not allow to be null. */
export function merged(fields: JsonObject, patch: JsonObject): JsonObject {
  const next: JsonObject = { ...fields };
  for (const [key, value] of Object.entries(patch)) {
    const [head = "", ...rest] = key.split(".");
    const inner = next[head];
    const below = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : undefined;
    if (rest.length > 0) {
      if (value === null && below === undefined) continue;
      next[head] = merged(below ?? {}, { [rest.join(".")]: value });
    } else if (value === null) delete next[head];
    else if (typeof value === "object" && !Array.isArray(value)) next[head] = merged(below ?? {}, value);
    else next[head] = value;
  }
  return next;
}
