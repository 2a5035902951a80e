import type { EventProof, IntakeEvent, JsonObject } from "@formbridge/contract";

/** An event as stored, with what the chain covers: `ts` as text, and the digests. A salt is null once its value was erased. */
export interface ChainedEvent extends Omit<IntakeEvent, "payload" | "proof">, EventProof {
  payload: JsonObject | null;
}

/** An event without its place in the chain yet. */
export type UnchainedEvent = Omit<ChainedEvent, "seq" | "prevHash" | "hash">;
