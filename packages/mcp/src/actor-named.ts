import type { ActorInput } from "@formbridge/contract";

/** Who acts without saying so, and without a key: the program that calls, by the name that it gives itself. */
export function actorNamed(told: unknown): ActorInput {
  const name = typeof told === "string" ? told.trim().slice(0, 200).toWellFormed() : "";
  return { kind: "agent", id: name === "" ? "mcp-client" : name };
}
