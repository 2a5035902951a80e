import type { Actor, ActorInput } from "@formbridge/contract";
import { ContractError } from "../../domain/error.ts";
import type { Session } from "../../domain/handoffs/handoff.ts";
import type { Principal } from "../caller.ts";

/** Recorded where a call by token alone may leave its actor out. */
const BEARER: Actor = { kind: "agent", id: "token_bearer", declared: true };

/**
 * The actor that is recorded: the key's own, or one that the key may act for; without a key, the one that the caller
 * declares.
 */
export function recordedActor(
  principal: Principal | undefined,
  input: ActorInput | undefined,
  { required }: { required: boolean },
): Actor {
  const given = input === undefined ? undefined : normalize(input);
  if (principal === undefined) {
    if (given === undefined && required) throw new ContractError("bad_request", "actor is needed without an API key.");
    return given === undefined ? BEARER : { ...given, declared: true };
  }
  if (given === undefined) return principal.actor;
  if (given.kind === principal.actor.kind && given.id === principal.actor.id) return principal.actor;
  if (principal.actsFor?.some((id) => id === "*" || id === given.id)) return given;
  throw new ContractError("forbidden", "This key may not act for another actor.");
}

/** With a session it is the one that the session was opened for. */
export function sessionActor(session: Session, input: ActorInput | undefined): Actor {
  const given = input === undefined ? undefined : normalize(input);
  if (given === undefined || isSameActor(given, session.actor)) return session.actor;
  throw new ContractError("forbidden", "This session was opened for another actor.");
}

/** An actor is written into every event it causes. */
const MAX_METADATA = 4096;

/** `type` is an older spelling of `kind`. */
export function normalize(input: ActorInput): Actor {
  const { kind, type, id, name, metadata } = input;
  if (metadata !== undefined && JSON.stringify(metadata).length > MAX_METADATA) {
    throw new ContractError("bad_request", `actor.metadata takes at most ${MAX_METADATA} characters of JSON.`);
  }
  const named = kind ?? type;
  if (named === undefined || (kind !== undefined && type !== undefined && kind !== type)) {
    throw new ContractError("bad_request", 'actor.kind is needed: "agent" or "human".');
  }
  return { kind: named, id, ...(name !== undefined && { name }), ...(metadata !== undefined && { metadata }) };
}

export const isSameActor = (a: Actor, b: Actor): boolean => a.kind === b.kind && a.id === b.id;
