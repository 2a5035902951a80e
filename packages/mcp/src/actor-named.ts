import type { ActorInput } from "@formbridge/contract";

/** The actor of a call that names none and has no API key: the client program, by its own name. */
export function actorNamed(told: unknown): ActorInput {
  const name = typeof told === "string" ? told.trim().slice(0, 200).toWellFormed() : "";
  return { kind: "agent", id: name === "" ? "mcp-client" : name };
}
