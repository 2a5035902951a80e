import type { Actor, EventActor } from "@formbridge/contract";

const id = "token_bearer";

/** Recorded for a write with only a token that names no actor. */
export const BEARER: Actor = { kind: "agent", id, declared: true };

/** A reader with only a token, who may be anyone: an agent, a browser behind a direct link. */
export const UNKNOWN_BEARER: EventActor = { kind: "unknown", id };

export const isBearer = (actor: EventActor): boolean => actor.id === id && actor.declared === true;
