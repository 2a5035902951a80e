import type { Actor, ActorInput } from "@formbridge/contract";
import type { DecideContext, Decision } from "../../domain/decide/decision.ts";
import type { ContractError } from "../../domain/error.ts";
import type { Hash } from "../../domain/hashing.ts";
import type { Meaning } from "../../domain/idempotency/fingerprint.ts";
import type { KeyedOperation, KeyRef } from "../../domain/idempotency/key-record.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { Caller, Target } from "../caller.ts";
import type { Context } from "../context.ts";
import type { Found } from "../identity/resolve-target.ts";
import type { OperationResponse, Shown } from "../read/response.ts";

/** A call that writes to a submission, as passed in by a transport. */
export interface WriteCall {
  caller: Caller;
  target: Target;
  actor?: ActorInput;
  idempotencyKey?: string;
  /** For tests: the record's time to live. */
  idempotencyTtlMs?: number;
  /** How long the caller is willing to wait for the first delivery. */
  waitMs?: number;
}

/** What distinguishes one write from another. */
export interface WriteSpec<Body extends object> {
  operation: string;
  actorRequired: boolean;
  keyed?: { operation: KeyedOperation; meaning(found: Found, version: number): Meaning };
  /** With an API key no version is needed. */
  needsNoVersion?: true;
  /** Overwrites nothing, so a session needn't name the version it has seen. */
  needsNoBasis?: true;
  /** Throws if this caller, who has found the submission, may not do this. */
  authorize?: (found: Found) => void;
  /** The refusal for an ended submission, if it isn't the usual 410. */
  refuseEnded?: (submission: Submission, now: Instant) => ContractError | undefined;
  /** Works on submissions that are under review or being delivered. */
  actsOnLocked?: true;
  /** Its commit may start a delivery, which the response waits for a while. */
  awaitsDelivery?: true;
  /** The fields that the caller wants to set, to find conflicts. */
  attempted?: Record<string, unknown>;
  decide(submission: Submission, context: DecideContext, found: Found): Decision | Promise<Decision>;
  body(shown: Shown, actor: Actor): Body;
}

/** One try at a write, with everything it is based on. */
export interface Attempt<Body extends object> {
  context: Context;
  call: WriteCall;
  spec: WriteSpec<Body>;
  found: Found;
  actor: Actor;
  /** Set if the call has an idempotency key. */
  key?: { ref: KeyRef; fingerprint: Hash };
}

/** A response that may still change: `later` waits for the final one. */
export interface WriteResponse<Body> extends OperationResponse<Body> {
  later?: () => Promise<OperationResponse<Body>>;
}

/** How long this caller waits for the first delivery. */
export const waitOf = ({ call, context: { deps } }: { call: Pick<WriteCall, "waitMs">; context: Context }): number =>
  Math.min(call.waitMs ?? deps.settings.deliveryWaitMs, deps.settings.deliveryWaitMaxMs);

/** The version that the caller's write is based on. */
export const carriedVersion = ({ found, call }: Pick<Attempt<object>, "found" | "call">): number =>
  found.token?.row.version ?? call.target.versions[0] ?? found.submission.version;

/** Whose record it is: the API key's actor's, the hand-off's, or else the token holder's. */
export function principalName({ principal, session, submission }: Found): string {
  if (session !== undefined) return `handoff:${session.handoff.handoffId}`;
  return principal === undefined
    ? `submission:${submission.submissionId}`
    : `actor:${principal.actor.kind}:${principal.actor.id}`;
}
