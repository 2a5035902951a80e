import type { EventActor, JsonObject } from "@formbridge/contract";
import type { Hash } from "../hashing.ts";
import { type Instant, toIso } from "../instant.ts";
import type { Submission } from "../submission.ts";

/**
 * The payloads of the token stream, one builder per event type; `EVENT_PAYLOADS` in the contract defines them. Tokens
 * appear only as hashes; address and user agent are in the payload because erasing removes it.
 */
export interface TokenUse {
  operation: string;
  /** Hash of the presented token; absent if an API key or a session was used, or the server acts on its own. */
  tokenHash?: Hash;
  /** The hand-off of the presented session. */
  handoffId?: string;
  ipAddress?: string;
  userAgent?: string;
  responseTimeMs?: number;
}

/** Why a token's use was refused. */
export type FailedUse =
  | "rotated"
  | "ttl_elapsed"
  | "admin_revoked"
  | "handoff_revoked"
  | "code_spent"
  | "malformed"
  | "finalized"
  | "cancelled"
  | "expired";

const usePart = (use: TokenUse, outcome: "success" | "failure"): JsonObject => ({ ...use, outcome });

export const accessedPayload = (use: TokenUse, failure?: FailedUse): JsonObject =>
  failure === undefined ? usePart(use, "success") : { ...usePart(use, "failure"), reason: failure };

export const createdPayload = (use: TokenUse, after: Submission): JsonObject => ({
  ...usePart(use, "success"),
  tokenHash: after.token.hash,
  intakeId: after.intakeId,
  ttlMs: after.token.expiresAt - after.token.issuedAt,
  expiresAt: toIso(after.token.expiresAt),
});

/** A token was used to write and was replaced. */
export const rotatedPayload = (
  use: TokenUse,
  { before, after, fieldsChanged }: { before: Submission; after: Submission; fieldsChanged: readonly string[] },
): JsonObject => ({
  ...usePart(use, "success"),
  previousTokenHash: before.token.hash,
  newTokenHash: after.token.hash,
  newVersion: after.version,
  expiresAt: toIso(after.token.expiresAt),
  fieldsChanged: [...fieldsChanged],
  stateTransition: `${before.state} -> ${after.state}`,
});

const MAX_REJECTED = 50;
const MAX_NAME = 100;

export const conflictPayload = (
  use: TokenUse,
  about: { submission: Submission; attemptedVersion: number; attempted: readonly string[] },
): JsonObject => ({
  ...usePart(use, "failure"),
  reason: "version_mismatch",
  currentTokenHash: about.submission.token.hash,
  attemptedVersion: about.attemptedVersion,
  currentVersion: about.submission.version,
  rejectedFields: about.attempted.slice(0, MAX_REJECTED).map((name) => name.slice(0, MAX_NAME)),
});

/** Names the token that stopped working, never its replacement. */
export const expiredPayload = (
  use: TokenUse,
  about: {
    tokenHash: Hash;
    reason: "ttl" | "terminal_state" | "admin_revoked";
    finalState: Submission["state"];
    expiredAt: Instant;
  },
): JsonObject => ({
  ...usePart(use, "success"),
  tokenHash: about.tokenHash,
  reason: about.reason,
  finalState: about.finalState,
  expiredAt: toIso(about.expiredAt),
});

type Person = Pick<EventActor, "kind" | "id">;
const named = ({ kind, id }: Person): JsonObject => ({ kind, id });

export const handedOffPayload = (use: TokenUse, from: Person, to: Person): JsonObject => ({
  ...usePart(use, "success"),
  handoffDetected: true,
  previousActor: named(from),
  currentActor: named(to),
});
