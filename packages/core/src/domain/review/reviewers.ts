import type { Actor, ApprovalGate } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";

/** Whoever decides at a gate, with the roles of the key that says so. */
export interface Reviewer {
  actor: Actor;
  roles: readonly string[];
}

export type Waiting = Submission & { state: "needs_review" };

/** Addresses differ in case by accident only. */
export const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The address that an actor is known by: whoever came by a link that was mailed has it as the id. */
export function addressOf({ id, metadata }: Actor): string | undefined {
  if (typeof metadata?.email === "string") return metadata.email;
  return /^[^\s@]+@[^\s@]+$/.test(id) ? id : undefined;
}

/** A key and a link can be in the hands of one person: an address that both have gives it away. */
export function isSamePerson(one: Actor, other: Actor): boolean {
  if (one.kind === other.kind && one.id === other.id) return true;
  const [address, otherAddress] = [addressOf(one), addressOf(other)];
  return address !== undefined && otherAddress !== undefined && sameAddress(address, otherAddress);
}

/** Has the gate with this number waited too long, this time? */
export const isEscalated = ({ review }: Submission, gateIndex: number): boolean =>
  review?.gateIndex === gateIndex && review.escalatedAt !== undefined;

/** A gate that names nobody takes every reviewer; one that has waited too long takes those of `escalateTo` too. */
export function reviewsGate(gate: ApprovalGate, who: Reviewer, { escalated }: { escalated: boolean }): boolean {
  if (who.roles.includes("admin")) return true;
  const { escalateTo, ...reviewers } = gate.reviewers;
  return isAmong(reviewers, who) || (escalated && escalateTo !== undefined && isAmong(escalateTo, who));
}

function isAmong({ ids, roles, emails }: Omit<ApprovalGate["reviewers"], "escalateTo">, who: Reviewer): boolean {
  if (ids === undefined && roles === undefined && emails === undefined) return true;
  const email = who.actor.metadata?.email;
  return (
    (ids?.includes(who.actor.id) ?? false) ||
    (roles?.some((role) => who.roles.includes(role)) ?? false) ||
    (typeof email === "string" && (emails?.some((known) => sameAddress(known, email)) ?? false))
  );
}

/** Why this reviewer may not decide at the gate that the submission waits at; undefined when nothing speaks against it. */
export function barredFrom(submission: Waiting, gate: ApprovalGate, who: Reviewer): ContractError | undefined {
  const about = aboutOf(submission);
  if (who.actor.declared === true) return new ContractError("forbidden", "A declared actor can't review.", { about });
  if (!reviewsGate(gate, who, { escalated: isEscalated(submission, submission.review.gateIndex) })) {
    return new ContractError("forbidden", `The gate ${gate.name} has other reviewers.`, { about });
  }
  if (isSamePerson(submission.submittedBy ?? submission.createdBy, who.actor)) {
    return new ContractError("forbidden", "Nobody reviews what they submitted.", { about });
  }
  if (submission.review.approvals.some((approval) => isSamePerson(approval.by, who.actor))) {
    return new ContractError("conflict", "This reviewer has already approved.", { about });
  }
  return undefined;
}
