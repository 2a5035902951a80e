/**
 * What every refusal about a known submission contains for a caller who may see it: its id, state and version, the
 * current token if the caller may hold it, and what to do next. Rules put into their errors what only they know; the
 * rest is added here, once.
 */
import type { Actor, ErrorType, NextAction } from "@formbridge/contract";
import { ContractError, type ErrorAbout } from "../../domain/error.ts";
import type { KeyRef } from "../../domain/idempotency/key-record.ts";
import { toIso } from "../../domain/instant.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { nextActionsFor } from "../../domain/next-actions.ts";
import type { Submission } from "../../domain/submission.ts";
import { BEARER } from "../../domain/tokens/bearer.ts";
import { aboutOf } from "../../domain/tokens/refuse-ended.ts";
import type { Principal } from "../caller.ts";
import type { Context } from "../context.ts";
import type { Deps } from "../deps.ts";
import { maySee } from "../identity/access.ts";
import { recordedActor } from "../identity/actors.ts";
import { tokenFor } from "../identity/held-token.ts";
import { type Found, type RefusedTarget, resolveTarget, type TargetLookup } from "../identity/resolve-target.ts";
import { resumeUrlOf } from "../links/handoff-links.ts";
import { loadSubmission } from "../read/load-submission.ts";

/** 410s contain no token, and after an outage it isn't known whether the token is still current. */
const TELL_NO_TOKEN: readonly ErrorType[] = ["token_expired", "expired", "cancelled", "service_unavailable"];

/** For a call that lost every race against other writes. */
export const tooFast = (more: { about?: ErrorAbout; nextActions?: NextAction[] } = {}): ContractError =>
  new ContractError("service_unavailable", "The submission is being changed by others right now. Try again.", {
    retryAfterMs: 100,
    ...more,
  });

/** What an error says about its submission; a token only if one is passed in, for a caller who may hold it. */
export function tell({ publicUrl }: Deps, submission: Submission, token: string | undefined): ErrorAbout {
  if (token === undefined) return aboutOf(submission);
  return {
    ...aboutOf(submission),
    resumeToken: token,
    resumeUrl: resumeUrlOf(publicUrl(), token),
    tokenExpiresAt: toIso(submission.token.expiresAt),
  };
}

/** A refused caller: what the call was about, who made it, and what they may learn. */
export interface Refused {
  submission: Submission;
  intake: CompiledIntake;
  /** The actor, if the call named one. */
  actor?: Actor;
  /** If the credential has ended: `id`. A stale token learns what its 409 says, and `nothing` from other errors. */
  learns: "all" | "id" | "nothing";
  /** The current token, for a caller who may hold it. */
  token?: () => string | undefined;
}

/** Runs a call's work on the submission it found, and completes its refusals. */
export const telling = async <T>(context: Context, found: Found, work: () => T | Promise<T>): Promise<T> =>
  await tellingTo(context.deps, refusedAs(context.deps, found), work);

/** The same for callers with a link, a code or a signed URL. */
export async function tellingTo<T>(deps: Deps, refused: Refused, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explained(deps, refused, error);
  }
}

/** A completed refusal; other errors are returned unchanged. */
export const explained = (deps: Deps, refused: Refused, error: unknown): unknown =>
  error instanceof ContractError ? completed(deps, error, refused) : error;

/** Like `resolveTarget`, with complete refusals for a caller whose API key sees the submission. */
export async function resolveTold(context: Context, lookup: TargetLookup, key?: KeyRef): Promise<Found> {
  let refused: RefusedTarget | undefined;
  const onRefused: TargetLookup["onRefused"] = (found, reason) => {
    refused = found;
    lookup.onRefused?.(found, reason);
  };
  try {
    return await resolveTarget({ ...lookup, onRefused }, key);
  } catch (error) {
    throw refused === undefined ? error : explained(context.deps, refusedAs(context.deps, refused), error);
  }
}

function completed(deps: Deps, error: ContractError, refused: Refused): ContractError {
  const { submission, intake, actor = BEARER } = refused;
  // A recorded refusal is returned as it was.
  if (error.about.replayOf !== undefined) return error;
  const nextActions = nextActionsFor(error, { intake, submission, actor });
  // If the idempotency key was used elsewhere, the error names that submission.
  const isElsewhere = (error.about.submissionId ?? submission.submissionId) !== submission.submissionId;
  return error.completedBy({ about: isElsewhere ? {} : aboutFor(deps, error, refused), nextActions });
}

function refusedAs(deps: Deps, found: RefusedTarget): Refused {
  const { submission, token, session, principal, intake } = found;
  const status = (token ?? session)?.status ?? "current";
  const sees = status === "current" || (principal !== undefined && maySee(principal, submission, intake));
  return {
    submission,
    intake,
    actor: session?.session.actor ?? recordedActor(principal, undefined, { required: false }),
    learns: sees ? "all" : status === "stale" ? "nothing" : "id",
    token: () => tokenFor(deps, found),
  };
}

function aboutFor(deps: Deps, { type }: ContractError, { submission, learns, token }: Refused): ErrorAbout {
  if (learns !== "all") return learns === "nothing" ? {} : { submissionId: submission.submissionId };
  return tell(deps, submission, TELL_NO_TOKEN.includes(type) ? undefined : token?.());
}

/** Completes an error that names a submission other than the call's own. */
export async function completeNamed(
  context: Context,
  error: ContractError,
  principal: Principal | undefined,
): Promise<ContractError> {
  const { submissionId } = error.about;
  if (submissionId === undefined || principal === undefined) return error;
  const opened = await loadSubmission(context, { tenant: principal.tenant, submissionId });
  if (opened === undefined || !maySee(principal, opened.submission, opened.intake)) return error;
  return completed(context.deps, error, refusedAs(context.deps, { ...opened, principal, masked: true }));
}
