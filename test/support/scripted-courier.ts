import type { Courier, OutgoingDelivery, Receipt } from "@formbridge/core";
import { createLatch } from "./moves.ts";

export type Step = Receipt | "hold";

/**
 * A courier that does what the test says: accepts everything, unless a step is scripted for the intake's next delivery.
 */
export interface ScriptedCourier extends Courier {
  sent: OutgoingDelivery[];
  /** Scripts the outcome of an intake's next deliveries, in order. */
  next(intakeId: string, ...steps: Step[]): void;
  /** From now on accepts all deliveries of the intake. */
  forget(intakeId: string): void;
  /** Releases the deliveries it holds, in order. */
  release(receipt?: Receipt): void;
  held(): number;
}

const ACCEPTED: Receipt = { kind: "accepted" };

export function createScriptedCourier(): ScriptedCourier {
  const sent: OutgoingDelivery[] = [];
  const script = new Map<string, Step[]>();
  const holding: { latch: ReturnType<typeof createLatch>; receipt: Receipt }[] = [];
  return {
    sent,
    next: (intakeId, ...steps) => void script.set(intakeId, [...(script.get(intakeId) ?? []), ...steps]),
    forget: (intakeId) => void script.delete(intakeId),
    held: () => holding.length,
    release(receipt = ACCEPTED) {
      const held = holding.shift();
      if (held === undefined) throw new Error("nothing is held");
      held.receipt = receipt;
      held.latch.open();
    },
    async send(outgoing) {
      sent.push(outgoing);
      const step = script.get(outgoing.intakeId)?.shift() ?? ACCEPTED;
      if (step !== "hold") return step;
      const held = { latch: createLatch(), receipt: ACCEPTED };
      holding.push(held);
      await held.latch.opened;
      return held.receipt;
    },
    close: async () => {},
  };
}
