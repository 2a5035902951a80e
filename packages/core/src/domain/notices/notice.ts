import type { ApprovalGate } from "@formbridge/contract";
import type { DomainEvent } from "../events.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import { gateAt, isSamePerson, sameAddress } from "../review/reviewers.ts";
import type { Submission } from "../submission.ts";

/** A reviewer is identified by the position in the definition's list. */
export interface ReviewNotice {
  what: "review" | "escalated";
  gateIndex: number;
  reviewer: number;
}

/** The events that the operator's webhook is called for. */
export const HOOK_EVENTS = [
  "review.requested",
  "review.escalated",
  "review.rejected",
  "submission.finalized",
  "submission.ttl_warning",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface HookNotice {
  what: "hook";
  type: HookEvent;
  /** For a gate that waits or has escalated. */
  gate?: number;
}

/**
 * A notice and its recipient: a reviewer, whoever is known to have worked on the submission, or the operator's webhook.
 */
export type Notice = ReviewNotice | { what: "rejected" | "finalized" | "expiring" } | HookNotice;

/** Contains no address, because keys are shown wherever jobs are. */
export const noticeKey = (submissionId: string, notice: Notice): string => {
  if (notice.what === "hook") {
    return `notify:hook:${submissionId}:${notice.type}${notice.gate === undefined ? "" : `:${notice.gate}`}`;
  }
  const whom = "gateIndex" in notice ? `:${notice.gateIndex}:${notice.reviewer}` : "";
  return `notify:${notice.what}:${submissionId}${whom}`;
};

export function readNotice(key: string): Notice | undefined {
  const [, what, , gateIndex, reviewer] = key.split(":");
  if (what === "rejected" || what === "finalized" || what === "expiring") return { what };
  if (what === "hook") {
    const type = HOOK_EVENTS.find((known) => known === gateIndex);
    return type && { what, type, ...(reviewer !== undefined && { gate: Number(reviewer) }) };
  }
  if (what !== "review" && what !== "escalated") return undefined;
  return { what, gateIndex: Number(gateIndex), reviewer: Number(reviewer) };
}

/** The addresses for this kind of notice, as listed in the definition. */
export function addressesOf(gate: ApprovalGate | undefined, what: ReviewNotice["what"]): readonly string[] {
  const { emails = [], escalateTo } = gate?.reviewers ?? {};
  return what === "review" ? emails : (escalateTo?.emails ?? []);
}

/** The notices for these events, which have led to `after`. */
export const noticesOf = (events: readonly DomainEvent[], after: Submission, intake: CompiledIntake): Notice[] =>
  events.flatMap((event): Notice[] => {
    switch (event.type) {
      case "review.requested":
      case "review.reassigned":
        return asked("review", event.gateIndex, { after, intake });
      case "review.escalated":
        return asked("escalated", event.gateIndex, { after, intake });
      case "review.rejected":
        return [{ what: "rejected" }];
      case "submission.finalized":
        return [{ what: "finalized" }];
      case "submission.ttl_warning":
        return [{ what: "expiring" }];
      default:
        return [];
    }
  });

/** The same for the operator's webhook: once per event. */
export const hookNoticesOf = (events: readonly DomainEvent[]): HookNotice[] =>
  events.flatMap((event) => {
    const type = HOOK_EVENTS.find((known) => known === event.type);
    if (type === undefined) return [];
    const gate = event.type === "review.requested" || event.type === "review.escalated" ? event.gateIndex : undefined;
    return [{ what: "hook", type, ...(gate !== undefined && { gate }) }];
  });

/**
 * Everyone once, and nobody about their own work. Those who were asked before the escalation already have a working
 * link.
 */
function asked(
  what: ReviewNotice["what"],
  gateIndex: number,
  { after, intake }: { after: Submission; intake: CompiledIntake },
): Notice[] {
  const gate = gateAt(after, intake.definition.approvalGates, gateIndex);
  const before = what === "escalated" ? addressesOf(gate, "review") : [];
  const all = addressesOf(gate, what);
  const submitter = after.submittedBy ?? after.createdBy;
  return all.flatMap((email, reviewer) => {
    const isKnown = [...before, ...all.slice(0, reviewer)].some((other) => sameAddress(other, email));
    return isKnown || isSamePerson(linkActor(email), submitter) ? [] : [{ what, gateIndex, reviewer }];
  });
}

/** A person who opens a mailed link is identified by its address. */
export const linkActor = (email: string) => ({ kind: "human", id: email, metadata: { email }, proof: "link" }) as const;
