import type { EventActor } from "@formbridge/contract";
import { isEndedUse, type Observation } from "../../domain/alarms/signals.ts";
import type { Handoff, Session } from "../../domain/handoffs/handoff.ts";
import type { Submission } from "../../domain/submission.ts";
import { accessedPayload, conflictPayload, type FailedUse } from "../../domain/tokens/audit-payloads.ts";
import { UNKNOWN_BEARER } from "../../domain/tokens/bearer.ts";
import { handsOff } from "../../domain/tokens/token-audit.ts";
import type { TokenRow } from "../../domain/tokens/token-row.ts";
import type { TokenStatus } from "../../domain/tokens/token-status.ts";
import type { Caller } from "../caller.ts";
import type { Context } from "../context.ts";
import { countryOf, networkFor } from "../identity/network-of.ts";
import type { Found } from "../identity/resolve-target.ts";
import type { AuditNote } from "./audit-trail.ts";
import { traceOf } from "./call-trace.ts";

/** What was presented, and the submission it led to. */
export interface Presented extends Pick<Found, "submission" | "now"> {
  principal?: Found["principal"];
  token?: { row: Pick<TokenRow, "hash">; status?: TokenStatus };
  /** A session, or the hand-off whose link or code was presented to open one. */
  session?: { handoff: Pick<Handoff, "handoffId">; session?: Session };
}

/** A call that presented a token or a session, and its submission. */
export interface Use {
  caller: Caller;
  operation: string;
  found: Presented;
  /** The actor, if the call names one. */
  actor?: EventActor;
}

const useOf = (context: Context, { operation, caller, found }: Use) => ({
  operation,
  ...traceOf(context, caller, found),
});

/** A session is its human's and an API key its actor's; a bare token may be anyone's. */
const presenterOf = ({ actor, found }: Use): EventActor =>
  actor ?? found.session?.session?.actor ?? found.principal?.actor ?? UNKNOWN_BEARER;

function noteOf(use: Use, payload: AuditNote["payload"]): AuditNote {
  const { submission, now } = use.found;
  return { type: "token.accessed", submission: markOf(submission), by: presenterOf(use), payload, now };
}

const markOf = ({ tenant, submissionId, state, version }: Submission) => ({ tenant, submissionId, state, version });

/** What alarms see of a call. A caller with an API key is known by it, wherever it calls from. */
export function observe(
  { watch, deps }: Context,
  { caller, found }: Pick<Use, "caller" | "found">,
  about: Pick<Observation, "outcome" | "writer">,
): void {
  const { submission, token, principal, now: at } = found;
  watch.observe({
    at,
    ...about,
    submission,
    ...(token && { tokenHash: token.row.hash }),
    ...(principal === undefined && networkFor(caller)),
    ...countryOf(deps, caller),
  });
}

/**
 * Notes a read with a token or session. Cheap, except for the first read after the other kind of actor: that is a
 * hand-off.
 */
export async function noteRead(context: Context, use: Use): Promise<void> {
  const { submission, token, session, now } = use.found;
  if (token === undefined && session === undefined) return;
  const by = presenterOf(use);
  context.facts.actor = { kind: by.kind, id: by.id };
  context.auditTrail.note(noteOf(use, accessedPayload(useOf(context, use))));
  observe(context, use, { outcome: "used" });
  if (by.kind !== "agent" && by.kind !== "human") return;
  const to = { kind: by.kind, id: by.id };
  if (handsOff(submission.lastPerson, to) === undefined) return;
  await context.auditTrail.recordTakeOver({ submission: markOf(submission), by, to, use: useOf(context, use), now });
}

/** Notes a token or session whose use was refused. */
export function noteFailedUse(context: Context, use: Use, reason: FailedUse): void {
  context.facts.failure = reason;
  if (use.found.token === undefined && use.found.session === undefined) return;
  context.auditTrail.note(noteOf(use, accessedPayload(useOf(context, use), reason)));
  if (isEndedUse(reason)) observe(context, use, { outcome: "ended" });
}

/** Written before the refusal is returned, so that it survives a crash after that. */
export async function recordConflict(
  context: Context,
  use: Use,
  about: { attemptedVersion: number; attempted: readonly string[] },
): Promise<void> {
  const { submission } = use.found;
  const { intakeId, submissionId, version: currentVersion } = submission;
  const { attemptedVersion } = about;
  context.deps.instrumentation.record({
    name: "token_conflict",
    intakeId,
    submissionId,
    attemptedVersion,
    currentVersion,
  });
  const payload = conflictPayload(useOf(context, use), { submission, ...about });
  const conflict: AuditNote = { ...noteOf(use, payload), type: "token.conflict" };
  if (use.found.token?.status === "stale") noteFailedUse(context, use, "rotated");
  observe(context, use, { outcome: "conflict" });
  const span = {
    "submission.id": submissionId,
    "token.version": currentVersion,
    "token.attempted_version": attemptedVersion,
  };
  const write = async (): Promise<void> => {
    await context.auditTrail.record(conflict);
  };
  await context.deps.tracing.span("resolveConflict", write, span);
}
