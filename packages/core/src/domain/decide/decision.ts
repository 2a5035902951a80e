import type { Actor, EventType, JsonObject } from "@formbridge/contract";
import type { ChainedEvent } from "../chained-event.ts";
import type { ContractError } from "../error.ts";
import type { DomainEvent } from "../events.ts";
import type { Instant } from "../instant.ts";
import type { CompiledIntake } from "../intake/compiled-intake.ts";
import type { NewJob } from "../job.ts";
import type { Policy } from "../policy.ts";
import type { SideRow } from "../side-row.ts";

/** What a decision may use besides the state and the command. Constant during the decision. */
export interface DecideContext {
  now: Instant;
  /** The actor as it will be recorded; `proof` says how a human was identified. */
  actor: Actor;
  intake: CompiledIntake;
  policy: Policy;
  newId(prefix: "sub" | "upl" | "dlv"): string;
}

/**
 * What happens to the current token: every write rotates it. `reissue` and `revoke` also end all earlier tokens and
 * sessions; `renew` replaces a lapsed token and keeps sessions.
 */
export type TokenMove = "keep" | "rotate" | "renew" | "revoke" | "reissue";

/**
 * The outcome of a command. Events are committed even if the caller is refused (a failed submit is recorded); a refusal
 * without events changes nothing.
 */
export interface Decision {
  events: readonly DomainEvent[];
  token: TokenMove;
  refusal?: ContractError;
  /** The current token has lapsed, and the history should record it. */
  lapses?: true;
  /** Additional events for the token stream, besides those of a rotation. */
  audit?: readonly { type: EventType; payload: JsonObject }[];
  side?: readonly SideRow[];
  jobs?: readonly NewJob[];
  dropJobs?: readonly string[];
  /** Erases everything else that is stored about the submission. */
  erases?: true;
  /** Earlier events that lose parts, as they remain; hand-offs, review links and recorded responses are erased. */
  redacts?: readonly ChainedEvent[];
}

export const refuse = (refusal: ContractError): Decision => ({ events: [], token: "keep", refusal });

export const deliveryJob = (submissionId: string): string => `deliver:${submissionId}`;
export const escalationJob = (submissionId: string): string => `escalate:${submissionId}`;
export const lapseJob = (submissionId: string): string => `lapse:${submissionId}`;
export const collectJob = (uploadId: string): string => `collect:${uploadId}`;
