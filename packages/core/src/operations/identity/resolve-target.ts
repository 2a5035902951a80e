import { type ApprovalGate, type NextAction, RESUME_TOKEN_PATTERN, SESSION_PATTERN } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Handoff, Session } from "../../domain/handoffs/handoff.ts";
import { revokedAt, type SessionStatus, sessionOverError, sessionStatusOf } from "../../domain/handoffs/sessions.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { KeyRecord, KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { gateAt, isEscalated, reviewsGate } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import type { FailedUse } from "../../domain/tokens/audit-payloads.ts";
import { tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import type { TokenRow } from "../../domain/tokens/token-row.ts";
import { hasLapsed, type TokenStatus, tokenStatusOf } from "../../domain/tokens/token-status.ts";
import type { CallFacts } from "../../ports/instrumentation.ts";
import type { Loaded, Snapshot } from "../../ports/store.ts";
import { shortHash } from "../../ports/tracing.ts";
import type { Watch } from "../alarms/watch.ts";
import type { Caller, Principal, Target } from "../caller.ts";
import type { Deps } from "../deps.ts";
import type { Catalog } from "../read/catalog.ts";
import { fetchSubmission } from "../read/load-submission.ts";
import { openRow, openToken } from "../read/open-snapshot.ts";
import type { Held } from "../read/response.ts";
import { isSameActor } from "./actors.ts";
import { hasRole, reachesIntake } from "./authenticate.ts";
import { inLookupTime } from "./lookup-time.ts";
import { networkFor } from "./network-of.ts";
import { countFailedLookup, refuseGuesser } from "./rate-limits.ts";

/** A submission that the caller may see, and how it got access. */
export interface Found {
  now: Instant;
  submission: Submission;
  snapshot: Snapshot;
  intake: CompiledIntake;
  principal: Principal | undefined;
  /** The presented token and its status; absent if an API key was used. */
  token?: { row: TokenRow; status: TokenStatus; text: string };
  /** The presented session and its status. */
  session?: { handoff: Handoff; session: Session; status: SessionStatus };
  record?: KeyRecord;
  /** Whether sensitive values are masked for the caller. */
  masked: boolean;
}

/** The same for a refused token or session; a malformed token has no row. */
export type RefusedTarget = Omit<Found, "token"> & {
  token?: { row: Pick<TokenRow, "hash">; status: TokenStatus; text: string };
};

export interface TargetLookup {
  deps: Deps;
  catalog: Catalog;
  watch: Watch;
  caller: Caller;
  principal: Principal | undefined;
  target: Target;
  /** What is learned about the call, for metrics and the log. */
  facts?: CallFacts;
  /** Called before a token or session of a known submission is refused here. */
  onRefused?: (refused: RefusedTarget, reason: FailedUse) => void;
}

const WELL_FORMED = new RegExp(RESUME_TOKEN_PATTERN);
const SESSION = new RegExp(SESSION_PATTERN);

const LATEST_TOKEN: NextAction = {
  action: "fetch_current_state",
  hint: "Use the resumeToken of the latest response, or read the submission by id with the key that created it.",
};
const NEW_LINK: NextAction = { action: "request_handoff", hint: "Ask whoever gave you the link for a new one." };

const unknownToken = (): ContractError =>
  new ContractError("token_invalid", "The resume token is unknown.", {
    reason: "unknown",
    nextActions: [LATEST_TOKEN],
  });
export const malformedToken = (): ContractError =>
  new ContractError("token_invalid", "The resume token is malformed. It must be rtok_ followed by 43 characters.", {
    reason: "malformed",
    nextActions: [LATEST_TOKEN],
  });
export const unknownSession = (): ContractError =>
  new ContractError("token_invalid", "The session is unknown.", { reason: "unknown", nextActions: [NEW_LINK] });
export const notFound = (): ContractError =>
  new ContractError("not_found", "This submission doesn't exist, or you may not see it.");

export const credentialsNeeded = (): ContractError =>
  new ContractError("unauthorized", "This needs a resume token, a session or an API key.");

/** Finds the submission that a call names, or refuses: 400 malformed, 404 unknown or not the caller's, 410 revoked. */
export async function resolveTarget(lookup: TargetLookup, key?: KeyRef): Promise<Found> {
  const { facts = {}, target, caller, deps } = lookup;
  const began = performance.now();
  facts.presented = caller.session !== undefined || target.tokens.length > 0;
  try {
    if (lookup.principal === undefined) await lookup.watch.refuseBlocked(caller);
    const find = async () => {
      const target = await findTarget(lookup, key);
      const { submissionId, version } = target.submission;
      deps.tracing.describe({
        "submission.id": submissionId,
        "token.version": target.token?.row.version ?? version,
        "token.hash": target.token && shortHash(target.token.row.hash),
      });
      return target;
    };
    const found = await (facts.presented ? deps.tracing.span("validateToken", find) : find());
    noteFound(facts, found);
    if (lookup.principal === undefined) await lookup.watch.refuseBlocked(caller, found.submission.tenant);
    deps.tracing.join(found.session?.handoff.traceparent ?? found.submission.traceparent);
    return found;
  } catch (error) {
    if (error instanceof ContractError && error.type === "token_invalid")
      facts.failure = error.detail.reason === "malformed" ? "malformed" : "unknown";
    throw error;
  } finally {
    facts.validationMs = (facts.validationMs ?? 0) + performance.now() - began;
  }
}

function noteFound(facts: CallFacts, { submission, token, session, now }: Found): void {
  facts.intakeId = submission.intakeId;
  facts.submissionId = submission.submissionId;
  facts.version = submission.version;
  if (token !== undefined) facts.tokenHash = token.row.hash;
  const expiresAt = token?.row.expiresAt ?? session?.session.expiresAt;
  if (expiresAt !== undefined) facts.ttlRemainingMs = Math.max(0, expiresAt - now);
}

async function findTarget(lookup: TargetLookup, key?: KeyRef): Promise<Found> {
  const { deps, target, principal } = lookup;
  const [text] = target.tokens;
  const malformed = target.tokens.find((token) => !WELL_FORMED.test(token));
  if (malformed !== undefined) {
    await noteMalformed(lookup, malformed);
    throw malformedToken();
  }
  if (lookup.caller.session !== undefined) return await bySession(lookup, lookup.caller.session, key);
  if (text !== undefined) {
    await refuseGuesser(deps, lookup.caller);
    const loading = fetchSubmission(deps, { by: { token: sha256(text) }, ...(key && { key }) });
    const loaded = await inLookupTime(deps, loading);
    return await byToken(lookup, loaded, text);
  }
  if (principal === undefined) throw credentialsNeeded();
  const id = target.submissionId ?? "";
  const loaded = await fetchSubmission(deps, { by: { id, tenant: principal.tenant }, ...(key && { key }) });
  return await byKey(lookup, loaded, principal);
}

/** Only for an API key that may see the submission: anyone else could fill its history with garbage. */
async function noteMalformed(lookup: TargetLookup, text: string): Promise<void> {
  const { deps, principal, target, onRefused } = lookup;
  if (onRefused === undefined || principal === undefined || target.submissionId === undefined) return;
  const loaded = await deps.backend.store.load({ by: { id: target.submissionId, tenant: principal.tenant } });
  if (loaded.submission === undefined || isOfAnother(target, loaded.submission)) return;
  const found = await opened(lookup, loaded, loaded.submission);
  if (!maySee(principal, found.submission, found.intake)) return;
  onRefused({ ...found, token: { row: { hash: sha256(text) }, status: "revoked", text } }, "malformed");
}

const isOfAnother = ({ intakeId }: Target, { submission }: Snapshot): boolean =>
  intakeId !== undefined && intakeId !== submission.intakeId;

async function byToken(lookup: TargetLookup, loaded: Loaded, text: string): Promise<Found> {
  const { deps, target, principal } = lookup;
  const { submission: snapshot, presented } = loaded;
  const elsewhere =
    snapshot === undefined ||
    presented === undefined ||
    (target.submissionId !== undefined && target.submissionId !== snapshot.submission.submissionId) ||
    isOfAnother(target, snapshot) ||
    (principal !== undefined && principal.tenant !== snapshot.submission.tenant);
  if (elsewhere) {
    const network = principal === undefined ? networkFor(lookup.caller) : {};
    lookup.watch.observe({ at: loaded.now, outcome: "unknown", tokenHash: sha256(text), ...network });
    await countFailedLookup(deps, lookup.caller);
    throw unknownToken();
  }
  const found = await opened(lookup, loaded, snapshot);
  const status = tokenStatusOf(presented, found.submission, { now: loaded.now, policy: deps.settings.policy });
  if (status === "revoked" && found.submission.state !== "expired") {
    lookup.onRefused?.({ ...found, token: { row: presented, status, text } }, "admin_revoked");
    throw tokenOverError(presented, found.submission, { reason: "admin_revoked", now: loaded.now });
  }
  return { ...found, token: { row: presented, status, text } };
}

async function bySession(lookup: TargetLookup, text: string, key: KeyRef | undefined): Promise<Found> {
  const { deps, target } = lookup;
  if (target.tokens.length > 0) throw new ContractError("bad_request", "Send a session or a resume token, not both.");
  const loaded = await loadSession(lookup, text, key);
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
    lookup.watch.observe({ at: loaded.now, outcome: "unknown", ...networkFor(lookup.caller) });
    await countFailedLookup(deps, lookup.caller);
    throw unknownSession();
  }
  const found = await opened(lookup, loaded, snapshot);
  const { now, submission } = found;
  const status = sessionStatusOf({ handoff, session }, submission, { now, policy: deps.settings.policy });
  if (status === "revoked") {
    const about = { submissionId: submission.submissionId, endedAt: revokedAt(handoff, submission), now };
    lookup.onRefused?.({ ...found, session: { handoff, session, status } }, "handoff_revoked");
    throw sessionOverError(about, "handoff_revoked");
  }
  const masked = found.masked && (lookup.caller.forModel === true || session.actor.kind !== "human");
  return { ...found, masked, session: { handoff, session, status } };
}

/** Finds the session for a secret, or the hand-off for a link's. */
export async function loadSession(
  { deps, caller }: Pick<TargetLookup, "deps" | "caller">,
  text: string,
  key?: KeyRef,
): Promise<Loaded> {
  if (!SESSION.test(text)) {
    const words = "The session is malformed: sess_ and 43 characters.";
    throw new ContractError("token_invalid", words, { reason: "malformed", nextActions: [NEW_LINK] });
  }
  await refuseGuesser(deps, caller);
  return await inLookupTime(deps, fetchSubmission(deps, { by: { session: sha256(text) }, ...(key && { key }) }));
}

async function byKey(lookup: TargetLookup, loaded: Loaded, principal: Principal): Promise<Found> {
  if (loaded.submission === undefined || isOfAnother(lookup.target, loaded.submission)) throw notFound();
  const found = await opened(lookup, loaded, loaded.submission);
  if (!maySee(principal, found.submission, found.intake)) throw notFound();
  return found;
}

async function opened(lookup: TargetLookup, loaded: Loaded, snapshot: Snapshot): Promise<Found> {
  const { deps, catalog, principal, caller } = lookup;
  const intake = await catalog.byDigest(snapshot.submission.definition);
  const submission = openRow(deps.sealer, snapshot);
  return {
    now: loaded.now,
    submission,
    snapshot,
    intake,
    principal,
    masked: !seesSensitive({ caller, principal }, intake, submission),
    ...(loaded.record && { record: loaded.record }),
  };
}

const isCreator = (principal: Principal, submission: Submission): boolean =>
  hasRole(principal, "agent") &&
  (submission.createdByKey === principal.keyId ||
    (submission.createdBy.declared !== true && isSameActor(principal.actor, submission.createdBy)));

/** Admins and viewers see their whole tenant, agents what their actor created, reviewers what has a gate of theirs. */
export function maySee(principal: Principal, submission: Submission, intake: CompiledIntake): boolean {
  if (principal.tenant !== submission.tenant || !reachesIntake(principal, submission.intakeId)) return false;
  if (hasRole(principal, "admin", "viewer") || isCreator(principal, submission)) return true;
  return isReviewer(principal, submission, intake);
}

function isReviewer(principal: Principal, submission: Submission, intake: CompiledIntake): boolean {
  const gates = intake.definition.approvalGates ?? [];
  const isTheirs = (named: ApprovalGate, index: number): boolean =>
    reviewsGate(gateAt(submission, gates, index) ?? named, principal, { escalated: isEscalated(submission, index) });
  return hasRole(principal, "reviewer") && gates.some(isTheirs);
}

/**
 * Whether a caller without a session sees sensitive values. What agents see ends up in prompts and logs, and a bare
 * token may be an agent's, so only human API keys, admins and the reviewers of a gate do, unless the intake lifts it.
 */
export function seesSensitive(
  { caller, principal }: Pick<TargetLookup, "caller" | "principal">,
  intake: CompiledIntake,
  submission?: Submission,
): boolean {
  if (!intake.hasSensitive || intake.definition.sensitive?.visibleToAgents === true) return true;
  if (caller.forModel === true || principal === undefined) return false;
  if (principal.actor.kind === "human" || hasRole(principal, "admin")) return true;
  return submission !== undefined && isReviewer(principal, submission, intake);
}

/** Whose API key may hold the token, and so write by id and cancel: the creator's, and an admin's. */
export const mayHoldToken = (principal: Principal | undefined, submission: Submission): boolean =>
  principal !== undefined &&
  principal.tenant === submission.tenant &&
  reachesIntake(principal, submission.intakeId) &&
  (hasRole(principal, "admin") || isCreator(principal, submission));

/** Who may write: the bearer of a token, a session, and an API key that may hold the token. */
export function requireWriter({ token, session, principal, submission }: Found): void {
  if (token !== undefined || session !== undefined || mayHoldToken(principal, submission)) return;
  throw new ContractError("forbidden", "This key may read the submission but not change it.");
}

/** Revoking and reissuing need an API key, so that a leaked token can't lock its owner out. */
export function requireTokenKey({ principal, submission }: Found): void {
  if (mayHoldToken(principal, submission)) return;
  throw new ContractError(
    "forbidden",
    "Reissuing or revoking tokens needs the key that created the submission, or an admin's.",
    {
      nextActions: [
        { action: "fetch_current_state", hint: "A token that still works needs no reissue. Keep using it." },
      ],
    },
  );
}

/** Creating and revoking hand-offs needs the right to hold the token; a session only has what it was given. */
export function requireHolder({ token, principal, submission }: Found): void {
  if (token === undefined && !mayHoldToken(principal, submission)) {
    throw new ContractError(
      "forbidden",
      "Creating, listing and revoking hand-offs needs the resume token, or a key that may hold it.",
    );
  }
}

/** The current token in clear, if this caller may hold it: it presented it, or its API key may. */
export function tokenFor(deps: Deps, found: RefusedTarget): string | undefined {
  if (found.token?.status === "current" && found.submission.state !== "expired") return found.token.text;
  return mayHoldToken(found.principal, found.submission) ? liveToken(deps, found) : undefined;
}

/** What this caller learns about the current token. */
export function heldBy(deps: Deps, found: Found): Held {
  const { submission, now, principal } = found;
  const token = tokenFor(deps, found);
  if (token !== undefined) return { token };
  const { policy } = deps.settings;
  const lapsed =
    mayHoldToken(principal, submission) && !submission.tokensRevoked && hasLapsed(submission, { now, policy });
  return lapsed ? { lapsed } : {};
}

/**
 * The current token in clear, unless it is no longer given out: it was revoked, has lapsed, or its submission has
 * expired.
 */
export function liveToken(
  { sealer, settings: { policy } }: Deps,
  { submission, snapshot, now }: Pick<Found, "submission" | "snapshot" | "now">,
): string | undefined {
  const isOver = submission.tokensRevoked || submission.state === "expired" || hasLapsed(submission, { now, policy });
  return isOver ? undefined : openToken(sealer, snapshot);
}
