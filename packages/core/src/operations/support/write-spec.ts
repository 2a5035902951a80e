import type { Actor, ActorInput } from "@formbridge/contract";
import type { DecideContext, Decision } from "../../domain/decide/decision.ts";
import type { ContractError } from "../../domain/error.ts";
import type { Hash } from "../../domain/hashing.ts";
import type { Meaning } from "../../domain/idempotency/fingerprint.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Submission } from "../../domain/submission.ts";
import type { KeyedOperation, KeyRef } from "../../ports/store.ts";
import type { Caller, Target } from "../caller.ts";
import type { Answer, Shown } from "./answer.ts";
import type { Context } from "./context.ts";
import type { Found } from "./resolve-target.ts";

/** A call that writes to a submission, as a transport hands it over. */
export interface WriteCall {
  caller: Caller;
  target: Target;
  actor?: ActorInput;
  idempotencyKey?: string;
  /** For tests: how long the record lives. */
  idempotencyTtlMs?: number;
  /** How long the caller would wait for the first delivery. */
  waitMs?: number;
}

/** What makes one write different from another. */
export interface WriteSpec<Body extends object> {
  operation: string;
  actorRequired: boolean;
  keyed?: { operation: KeyedOperation; meaning(found: Found, version: number): Meaning };
  /** A key may do this without naming a version. */
  needsNoVersion?: true;
  /** Throws when this caller, who has found the submission, may not do this to it. */
  authorize?: (found: Found) => void;
  /** What an ended submission means here, when it is not the usual 410. */
  refuseEnded?: (submission: Submission, now: Instant) => ContractError | undefined;
  /** Is meant for submissions that are under review or on their way. */
  actsOnLocked?: true;
  /** What it commits may be sent at once: the answer waits for that, for a while. */
  awaitsDelivery?: true;
  /** The fields that the caller wants to set, to tell what conflicts. */
  attempted?: Record<string, unknown>;
  decide(submission: Submission, context: DecideContext, found: Found): Decision | Promise<Decision>;
  body(shown: Shown, actor: Actor): Body;
}

/** One try at a write: everything it stands on. */
export interface Attempt<Body extends object> {
  context: Context;
  call: WriteCall;
  spec: WriteSpec<Body>;
  found: Found;
  actor: Actor;
  /** Present when the call is guarded by an idempotency key. */
  key?: { ref: KeyRef; fingerprint: Hash };
}

/** An answer that may still change: `later` waits, and gives the one to send. */
export interface WriteAnswer<Body> extends Answer<Body> {
  later?: () => Promise<Answer<Body>>;
}

/** How long this caller waits for the first delivery. */
export const waitOf = ({ call, context: { deps } }: { call: Pick<WriteCall, "waitMs">; context: Context }): number =>
  Math.min(call.waitMs ?? deps.settings.deliveryWaitMs, deps.settings.deliveryWaitMaxMs);

/** The version that the caller's write was made on. */
export const carriedVersion = ({ found, call }: Pick<Attempt<object>, "found" | "call">): number =>
  found.token?.row.version ?? call.target.versions[0] ?? found.submission.version;

/** Whose record it is: the key's actor, the hand-off's; without either, whoever bears the submission's token. */
export function principalName({ principal, session, submission }: Found): string {
  if (session !== undefined) return `handoff:${session.handoff.handoffId}`;
  return principal === undefined
    ? `submission:${submission.submissionId}`
    : `actor:${principal.actor.kind}:${principal.actor.id}`;
}
