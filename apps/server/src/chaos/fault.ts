import { setTimeout as pause } from "node:timers/promises";
import type { Answer, Call } from "../probe/calls.ts";
import type { Ledger } from "./ledger.ts";

/** Where faults are made, and what they are made with. */
export interface Scene {
  /** Without a trailing slash. */
  url: string;
  key: string;
  call: Call;
  intake: string;
  /** A text field of the intake, into which everything is written. */
  field: string;
  /** The prefix of every text that this run writes; unique to the run. */
  run: string;
  ledger: Ledger;
}

/** What a fault did, and where the server broke a promise. */
export interface Outcome {
  tried: number;
  problems: string[];
}

export interface Fault {
  name: string;
  run(scene: Scene): Promise<Outcome>;
}

const PATIENCE = 6;

/** Retries while the server asks to come back later (429, 503). */
export async function persist(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried++) {
    const answer = await ask();
    if ((answer.status !== 429 && answer.status !== 503) || tried >= PATIENCE) return answer;
    await pause(100 * 2 ** tried);
  }
}

export const isGood = ({ status }: Answer): boolean => status >= 200 && status <= 299;

export const times = <Made>(count: number, make: (index: number) => Promise<Made>): Promise<Made[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));
