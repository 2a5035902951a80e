import type { Actor, ActorInput, Proof } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Session } from "../../domain/handoffs/handoff.ts";
import { BEARER } from "../../domain/tokens/bearer.ts";
import type { Principal } from "../caller.ts";

/**
 * The recorded actor: the API key's own, or one that it may act for; without a key, the one that the caller declares.
 */
export function recordedActor(
  principal: Principal | undefined,
  input: ActorInput | undefined,
  { required }: { required: boolean },
): Actor {
  const given = input === undefined ? undefined : normalize(input);
  if (principal === undefined) {
    if (given === undefined && required)
      throw new ContractError("bad_request", "actor is required without an API key.");
    return given === undefined ? BEARER : { ...given, declared: true };
  }
  if (given === undefined) return principal.actor;
  if (given.kind === principal.actor.kind && given.id === principal.actor.id) return principal.actor;
  if (principal.actsFor?.some((id) => id === "*" || id === given.id)) return vouchedFor(given, principal.actor);
  throw notYou("This key may not act for another actor.");
}

/** Only for humans: an agent is identified by its API key alone. */
export const withProof = (actor: Actor, proof: Proof): Actor => (actor.kind === "human" ? { ...actor, proof } : actor);

/** A human's API key vouches for the humans that it may act for; an agent's key proves no human. */
const vouchedFor = (given: Actor, { proof }: Actor): Actor => (proof === undefined ? given : withProof(given, proof));

/** In a session, the actor it was opened for. */
export function sessionActor(session: Session, input: ActorInput | undefined): Actor {
  const given = input === undefined ? undefined : normalize(input);
  if (given === undefined || isSameActor(given, session.actor)) return session.actor;
  throw notYou("This session was opened for another actor.");
}

/** For a caller that names someone else. */
export const notYou = (message: string): ContractError =>
  new ContractError("forbidden", message, {
    nextActions: [{ action: "collect_field", field: "actor", hint: "Leave actor out; your own is recorded." }],
  });

/** Limited, because an actor is written into each of its events. */
const MAX_METADATA = 4096;

/** `type` is an older spelling of `kind`. */
export function normalize(input: ActorInput): Actor {
  const { kind, type, id, name, metadata } = input;
  if (metadata !== undefined && JSON.stringify(metadata).length > MAX_METADATA) {
    throw new ContractError("bad_request", `actor.metadata can have at most ${MAX_METADATA} characters of JSON.`);
  }
  const named = kind ?? type;
  if (named === undefined || (kind !== undefined && type !== undefined && kind !== type)) {
    throw new ContractError("bad_request", 'actor.kind is needed: "agent" or "human".');
  }
  return { kind: named, id, ...(name !== undefined && { name }), ...(metadata !== undefined && { metadata }) };
}

export const isSameActor = (a: Actor, b: Actor): boolean => a.kind === b.kind && a.id === b.id;
