import { type ApprovalGate, RESUME_TOKEN_PATTERN, SESSION_PATTERN } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Handoff, Session } from "../../domain/handoffs/handoff.ts";
import { revokedAt, type SessionStanding, sessionOverError, sessionStanding } from "../../domain/handoffs/sessions.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { isEscalated, reviewsGate } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import { tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import { type Standing, standingOf } from "../../domain/tokens/standing.ts";
import type { KeyRecord, KeyRef, Loaded, Snapshot, TokenRow } from "../../ports/store.ts";
import type { Caller, Principal, Target } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { isSameActor } from "./actors.ts";
import { hasRole, reachesIntake } from "./authenticate.ts";
import type { Catalog } from "./catalog.ts";
import { openRow, openToken } from "./open-snapshot.ts";
import { countFailedLookup, refuseGuesser } from "./rate-limits.ts";

/** A submission that the caller may see, and how it came to see it. */
export interface Found {
  now: Instant;
  submission: Submission;
  snapshot: Snapshot;
  intake: CompiledIntake;
  principal: Principal | undefined;
  /** The token that was presented, with its standing; absent when a key opened the way. */
  token?: { row: TokenRow; standing: Standing; text: string };
  /** The session that was presented, with its standing. */
  session?: { handoff: Handoff; session: Session; standing: SessionStanding };
  record?: KeyRecord;
}

export interface Seeker {
  deps: Deps;
  catalog: Catalog;
  caller: Caller;
  principal: Principal | undefined;
  target: Target;
}

const WELL_FORMED = new RegExp(RESUME_TOKEN_PATTERN);
const SESSION = new RegExp(SESSION_PATTERN);

const unknownToken = (): ContractError =>
  new ContractError("token_invalid", "The resume token is not known.", { reason: "unknown" });
export const malformedToken = (): ContractError =>
  new ContractError("token_invalid", "The resume token is malformed: rtok_ and 43 characters.", {
    reason: "malformed",
  });
export const unknownSession = (): ContractError =>
  new ContractError("token_invalid", "The session is not known.", { reason: "unknown" });
export const notFound = (): ContractError => new ContractError("not_found", "There is no such submission.");

export const credentialsNeeded = (): ContractError =>
  new ContractError("unauthorized", "This needs a resume token, a session or an API key.");

/** Finds the submission that a call names, or refuses: 400 malformed, 404 unknown or not the caller's, 410 revoked. */
export async function resolveTarget(seeker: Seeker, key?: KeyRef): Promise<Found> {
  const { deps, target, principal } = seeker;
  const [text] = target.tokens;
  if (target.tokens.some((token) => !WELL_FORMED.test(token))) throw malformedToken();
  if (seeker.caller.session !== undefined) return await bySession(seeker, seeker.caller.session, key);
  if (text !== undefined) {
    await refuseGuesser(deps, seeker.caller);
    const loaded = await deps.backend.store.load({ by: { token: sha256(text) }, ...(key && { key }) });
    return await byToken(seeker, loaded, text);
  }
  if (principal === undefined) throw credentialsNeeded();
  const id = target.submissionId ?? "";
  const loaded = await deps.backend.store.load({ by: { id, tenant: principal.tenant }, ...(key && { key }) });
  return await byKey(seeker, loaded, principal);
}

const isOfAnother = ({ intakeId }: Target, { submission }: Snapshot): boolean =>
  intakeId !== undefined && intakeId !== submission.intakeId;

async function byToken(seeker: Seeker, loaded: Loaded, text: string): Promise<Found> {
  const { deps, target, principal } = seeker;
  const { submission: snapshot, presented } = loaded;
  const elsewhere =
    snapshot === undefined ||
    presented === undefined ||
    (target.submissionId !== undefined && target.submissionId !== snapshot.submission.submissionId) ||
    isOfAnother(target, snapshot) ||
    (principal !== undefined && principal.tenant !== snapshot.submission.tenant);
  if (elsewhere) {
    await countFailedLookup(deps, seeker.caller);
    throw unknownToken();
  }
  const found = await opened(seeker, loaded, snapshot);
  const standing = standingOf(presented, found.submission, { now: loaded.now, policy: deps.settings.policy });
  if (standing === "revoked" && found.submission.state !== "expired") {
    throw tokenOverError(presented, found.submission, { reason: "admin_revoked", now: loaded.now });
  }
  return { ...found, token: { row: presented, standing, text } };
}

async function bySession(seeker: Seeker, text: string, key: KeyRef | undefined): Promise<Found> {
  const { deps, target } = seeker;
  if (target.tokens.length > 0) throw new ContractError("bad_request", "Send a session or a resume token, not both.");
  const loaded = await loadSession(seeker, text, key);
  const { submission: snapshot, handoff } = loaded;
  const session = handoff?.sessions.find(({ hash }) => hash === sha256(text));
  const isHere = target.submissionId === undefined || target.submissionId === snapshot?.submission.submissionId;
  if (
    snapshot === undefined ||
    handoff === undefined ||
    session === undefined ||
    !isHere ||
    isOfAnother(target, snapshot)
  ) {
    await countFailedLookup(deps, seeker.caller);
    throw unknownSession();
  }
  const found = await opened(seeker, loaded, snapshot);
  const { now, submission } = found;
  const standing = sessionStanding({ handoff, session }, submission, { now, policy: deps.settings.policy });
  if (standing === "revoked") {
    const about = { submissionId: submission.submissionId, endedAt: revokedAt(handoff, submission), now };
    throw sessionOverError(about, "handoff_revoked");
  }
  return { ...found, session: { handoff, session, standing } };
}

/** What the secret of a session, or of a link to one, leads to. */
export async function loadSession(
  { deps, caller }: Pick<Seeker, "deps" | "caller">,
  text: string,
  key?: KeyRef,
): Promise<Loaded> {
  if (!SESSION.test(text)) {
    const words = "The session is malformed: sess_ and 43 characters.";
    throw new ContractError("token_invalid", words, { reason: "malformed" });
  }
  await refuseGuesser(deps, caller);
  return await deps.backend.store.load({ by: { session: sha256(text) }, ...(key && { key }) });
}

async function byKey(seeker: Seeker, loaded: Loaded, principal: Principal): Promise<Found> {
  if (loaded.submission === undefined || isOfAnother(seeker.target, loaded.submission)) throw notFound();
  const found = await opened(seeker, loaded, loaded.submission);
  if (!maySee(principal, found.submission, found.intake)) throw notFound();
  return found;
}

async function opened(seeker: Seeker, loaded: Loaded, snapshot: Snapshot): Promise<Found> {
  const { deps, catalog, principal } = seeker;
  const intake = await catalog.byDigest(snapshot.submission.definition);
  return {
    now: loaded.now,
    submission: openRow(deps.sealer, snapshot),
    snapshot,
    intake,
    principal,
    ...(loaded.record && { record: loaded.record }),
  };
}

const isCreator = (principal: Principal, submission: Submission): boolean =>
  hasRole(principal, "agent") &&
  (submission.createdByKey === principal.keyId ||
    (submission.createdBy.declared !== true && isSameActor(principal.actor, submission.createdBy)));

/** Admins and viewers see all of their tenant, agents what their actor created, reviewers what has a gate of theirs. */
export function maySee(principal: Principal, submission: Submission, intake: CompiledIntake): boolean {
  if (principal.tenant !== submission.tenant || !reachesIntake(principal, submission.intakeId)) return false;
  if (hasRole(principal, "admin", "viewer") || isCreator(principal, submission)) return true;
  const gates = intake.definition.approvalGates ?? [];
  const isTheirs = (gate: ApprovalGate, index: number): boolean =>
    reviewsGate(gate, principal, { escalated: isEscalated(submission, index) });
  return hasRole(principal, "reviewer") && gates.some(isTheirs);
}

/** Whose key may hold the token, and so write by id and cancel: the creator's, and an admin's. */
export const mayHoldToken = (principal: Principal | undefined, submission: Submission): boolean =>
  principal !== undefined &&
  principal.tenant === submission.tenant &&
  reachesIntake(principal, submission.intakeId) &&
  (hasRole(principal, "admin") || isCreator(principal, submission));

/** Handing over, and taking back, is for those who may hold the token; a session is itself handed over. */
export function requireHolder({ token, principal, submission }: Found): void {
  if (token === undefined && !mayHoldToken(principal, submission)) {
    throw new ContractError("forbidden", "Hand-offs are made, shown and revoked for those who may hold the token.");
  }
}

/** The current token in clear when this caller may hold it: it presented it, or its key may. */
export function tokenFor(deps: Deps, found: Found): string | undefined {
  if (found.submission.tokensRevoked || found.submission.state === "expired") return undefined;
  if (found.token?.standing === "current") return found.token.text;
  return mayHoldToken(found.principal, found.submission) ? openToken(deps.sealer, found.snapshot) : undefined;
}
