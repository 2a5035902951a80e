import type { ApprovalGate } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { CompiledIntake } from "../../domain/intake/compiled-intake.ts";
import { gateAt, isEscalated, reviewsGate } from "../../domain/review/reviewers.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Principal } from "../caller.ts";
import { isSameActor } from "./actors.ts";
import { hasRole, reachesIntake } from "./authenticate.ts";
import type { Found, TargetLookup } from "./resolve-target.ts";

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
