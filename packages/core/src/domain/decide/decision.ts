import type { Actor, EventType, JsonObject } from "@formbridge/contract";
import type { NewJob, SideRow } from "../../ports/store.ts";
import type { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { Policy } from "../policy.ts";

/** What a decision may use beside the state and the command. Nothing in it changes while deciding. */
export interface DecideContext {
  now: Instant;
  /** Who acts, as it will be recorded. */
  actor: Actor;
  /** A human's own key, or a hand-off session, says that a human acts; what a caller says of itself does not. */
  provenHuman: boolean;
  intake: CompiledIntake;
  policy: Policy;
  newId(prefix: "sub" | "upl" | "dlv"): string;
}

/** What becomes of the current token: every write rotates it. */
export type TokenMove = "keep" | "rotate" | "revoke" | "reissue";

/**
 * The outcome of a command. With events, they are committed, also when the caller is refused (a failed submit is recorded);
 * without events a refusal changes nothing.
 */
export interface Decision {
  events: readonly DomainEvent[];
  token: TokenMove;
  refusal?: ContractError;
  /** Told in the token stream, beside what every rotation tells there. */
  audit?: readonly { type: EventType; payload: JsonObject }[];
  side?: readonly SideRow[];
  jobs?: readonly NewJob[];
  dropJobs?: readonly string[];
  /** Everything else that is kept of the submission goes with this change. */
  erases?: true;
}

export const refuse = (refusal: ContractError): Decision => ({ events: [], token: "keep", refusal });

export const deliveryJob = (submissionId: string): string => `deliver:${submissionId}`;
export const escalationJob = (submissionId: string): string => `escalate:${submissionId}`;
export const collectJob = (uploadId: string): string => `collect:${uploadId}`;
