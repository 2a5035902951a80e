import { type NextAction, RESUME_TOKEN_PATTERN, SESSION_PATTERN } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Handoff, Session } from "../../domain/handoffs/handoff.ts";
import { revokedAt, type SessionStatus, sessionOverError, sessionStatusOf } from "../../domain/handoffs/sessions.ts";
import { sha256 } from "../../domain/hashing.ts";
import type { KeyRecord, KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import type { Submission } from "../../domain/submission.ts";
import type { FailedUse } from "../../domain/tokens/audit-payloads.ts";
import { tokenOverError } from "../../domain/tokens/refuse-ended.ts";
import type { TokenRow } from "../../domain/tokens/token-row.ts";
import { type TokenStatus, tokenStatusOf } from "../../domain/tokens/token-status.ts";
import type { CallFacts } from "../../ports/instrumentation.ts";
import type { Loaded, Snapshot } from "../../ports/store.ts";
import { shortHash } from "../../ports/tracing.ts";
import type { Watch } from "../alarms/watch.ts";
import type { Caller, Principal, Target } from "../caller.ts";
import type { Deps } from "../deps.ts";
import type { Catalog } from "../read/catalog.ts";
import { fetchSubmission } from "../read/load-submission.ts";
import { openRow } from "../read/open-snapshot.ts";
import { maySee, seesSensitive } from "./access.ts";
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
    const words = "The session is malformed. It must be sess_ followed by 43 characters.";
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
