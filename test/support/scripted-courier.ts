import type { Courier, Parcel, Receipt } from "@formbridge/core";
import { createLatch } from "./moves.ts";

export type Step = Receipt | "hold";

/** Goes where the test says: takes everything, unless there is another word for the next parcel of an intake. */
export interface ScriptedCourier extends Courier {
  parcels: Parcel[];
  /** What becomes of the next parcels of an intake, in order. */
  next(intakeId: string, ...steps: Step[]): void;
  /** Lets go of what it holds, in order. */
  release(receipt?: Receipt): void;
  held(): number;
}

const TAKEN: Receipt = { kind: "taken" };

export function createScriptedCourier(): ScriptedCourier {
  const parcels: Parcel[] = [];
  const script = new Map<string, Step[]>();
  const holding: { latch: ReturnType<typeof createLatch>; receipt: Receipt }[] = [];
  return {
    parcels,
    next: (intakeId, ...steps) => void script.set(intakeId, [...(script.get(intakeId) ?? []), ...steps]),
    held: () => holding.length,
    release(receipt = TAKEN) {
      const held = holding.shift();
      if (held === undefined) throw new Error("nothing is held");
      held.receipt = receipt;
      held.latch.open();
    },
    async send(parcel) {
      parcels.push(parcel);
      const step = script.get(parcel.intakeId)?.shift() ?? TAKEN;
      if (step !== "hold") return step;
      const held = { latch: createLatch(), receipt: TAKEN };
      holding.push(held);
      await held.latch.opened;
      return held.receipt;
    },
    close: async () => {},
  };
}
