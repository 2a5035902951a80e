import type { Actor, ApprovalGate, ReviewerGroup } from "@formbridge/contract";
import { ContractError } from "../error.ts";
import type { Submission } from "../submission.ts";
import { aboutOf } from "../tokens/refuse-ended.ts";

/** Someone who decides at a gate, with the roles of their API key. */
export interface Reviewer {
  actor: Actor;
  roles: readonly string[];
}

export type Waiting = Submission & { state: "needs_review" };

/** Compared without case, which differs only by accident. */
export const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** An actor's known address: for someone who came by a mailed link it is the id. */
export function addressOf({ id, metadata }: Actor): string | undefined {
  if (typeof metadata?.email === "string") return metadata.email;
  return /^[^\s@]+@[^\s@]+$/.test(id) ? id : undefined;
}

/** One person may hold both an API key and a link; they are recognized by their address. */
export function isSamePerson(one: Actor, other: Actor): boolean {
  if (one.kind === other.kind && one.id === other.id) return true;
  const [address, otherAddress] = [addressOf(one), addressOf(other)];
  return address !== undefined && otherAddress !== undefined && sameAddress(address, otherAddress);
}

/** Whether this gate has escalated in the current review. */
export const isEscalated = ({ review }: Submission, gateIndex: number): boolean =>
  review?.gateIndex === gateIndex && review.escalatedAt !== undefined;

/** A gate as it applies to this submission: an admin may have named other reviewers. */
export function gateAt(
  { review }: Submission,
  gates: readonly ApprovalGate[] | undefined,
  index: number,
): ApprovalGate | undefined {
  const gate = gates?.[index];
  const reassigned = review?.gateIndex === index ? review.reassigned : undefined;
  if (gate === undefined || reassigned === undefined) return gate;
  const { escalateTo, allowAgents } = gate.reviewers;
  const kept = { ...(escalateTo && { escalateTo }), ...(allowAgents !== undefined && { allowAgents }) };
  return { ...gate, reviewers: { ...reassigned.reviewers, ...kept } };
}

/** A gate as named in responses. */
export const namesOf = ({ name, label }: Pick<ApprovalGate, "name" | "label">) => ({
  gate: name,
  ...(label !== undefined && { gateLabel: label }),
});

/** The same for a gate of which only the name is stored. */
export const namesIn = (gates: readonly ApprovalGate[] | undefined, name: string) =>
  namesOf(gates?.find((gate) => gate.name === name) ?? { name });

/** The gate that the submission is waiting at. */
export function gateOf(submission: Waiting, gates: readonly ApprovalGate[] | undefined): ApprovalGate {
  const { gateIndex } = submission.review;
  const gate = gateAt(submission, gates, gateIndex);
  if (gate === undefined) throw new Error(`the definition has no gate ${gateIndex}`);
  return gate;
}

const isBarredAgent = ({ reviewers }: ApprovalGate, { actor }: Reviewer): boolean =>
  actor.kind !== "human" && reviewers.allowAgents !== true;

/**
 * Only those named by the gate can decide, admins included; a gate that names nobody accepts every reviewer. An
 * escalated gate also accepts those in `escalateTo`. Agents can decide only if the gate allows it.
 */
export function reviewsGate(gate: ApprovalGate, who: Reviewer, { escalated }: { escalated: boolean }): boolean {
  if (isBarredAgent(gate, who)) return false;
  const { escalateTo, ...reviewers } = gate.reviewers;
  return isAmong(reviewers, who) || (escalated && escalateTo !== undefined && isAmong(escalateTo, who));
}

/** The maximum number of people a gate can hear, if it names them individually. */
export function mostReviewers({ escalateTo, ...own }: ApprovalGate["reviewers"]): number {
  const groups = escalateTo === undefined ? [own] : [own, escalateTo];
  const isOpen = ({ ids, roles = [], emails }: ReviewerGroup): boolean =>
    roles.length > 0 || (ids === undefined && emails === undefined);
  if (groups.some(isOpen)) return Number.POSITIVE_INFINITY;
  const named = groups.flatMap(({ ids = [], emails = [] }) => [...ids, ...emails.map((email) => email.toLowerCase())]);
  return new Set(named).size;
}

function isAmong({ ids, roles, emails }: ReviewerGroup, who: Reviewer): boolean {
  if (ids === undefined && roles === undefined && emails === undefined) return who.roles.includes("reviewer");
  const email = who.actor.metadata?.email;
  return (
    (ids?.includes(who.actor.id) ?? false) ||
    (roles?.some((role) => who.roles.includes(role)) ?? false) ||
    (typeof email === "string" && (emails?.some((known) => sameAddress(known, email)) ?? false))
  );
}

export type Bar = "declared" | "agent" | "not_a_reviewer" | "own_submission" | "already_approved";

/** Why this reviewer can't decide at the current gate; undefined if they can. */
export function barOf(submission: Waiting, gate: ApprovalGate, who: Reviewer): Bar | undefined {
  if (who.actor.declared === true) return "declared";
  if (isBarredAgent(gate, who)) return "agent";
  const escalated = isEscalated(submission, submission.review.gateIndex);
  if (!reviewsGate(gate, who, { escalated })) return "not_a_reviewer";
  if (isSamePerson(submission.submittedBy ?? submission.createdBy, who.actor)) return "own_submission";
  const hasApproved = submission.review.approvals.some((approval) => isSamePerson(approval.by, who.actor));
  return hasApproved ? "already_approved" : undefined;
}

/** The refusal for a reviewer who may not decide. */
export function barredFrom(submission: Waiting, gate: ApprovalGate, who: Reviewer): ContractError | undefined {
  const bar = barOf(submission, gate, who);
  if (bar === undefined) return undefined;
  const wayOut = who.roles.includes("admin") ? " As an admin you can reassign it." : "";
  const title = gate.label ?? gate.name;
  const words: Record<Bar, string> = {
    declared: "A declared actor can't review. Use a reviewer's API key or a review link.",
    agent: `Only humans review at the gate ${title}: its definition does not allow agents.`,
    not_a_reviewer: `The gate ${title} has other reviewers.${wayOut}`,
    own_submission: "Nobody reviews what they submitted. Somebody else has to decide.",
    already_approved: "This reviewer has already approved. The gate waits for others.",
  };
  const type = bar === "already_approved" ? "conflict" : "forbidden";
  return new ContractError(type, words[bar], { about: aboutOf(submission) });
}
