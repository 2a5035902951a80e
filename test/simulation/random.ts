import type { Randomness } from "@formbridge/core";

/** All randomness comes from here, so that a seed determines everything. */
export interface Dice {
  /** In [0, 1). */
  roll(): number;
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32: small, fast, and good enough to choose what to try next. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(roll() * limit);
  return {
    roll,
    below,
    chance: (probability) => roll() < probability,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}

/** Randomness for one step of one episode: leaving out another step doesn't change it. */
export const diceFor = (seed: number, step: number): Dice =>
  createDice(Math.imul(seed + 0x9e3779b9, 2 * step + 0x85ebca6b) ^ (step << 8));

/** Ids and secrets from a counter: unique, ordered, the same in every run. */
export function createCountedRandomness(): Randomness {
  let count = 0;
  const next = (): string => {
    count += 1;
    return count.toString(36);
  };
  return {
    process: "simulation",
    newId: (prefix) => `${prefix}_${next().padStart(10, "0")}`,
    resumeToken: () => `rtok_${next().padStart(43, "A")}`,
    session: () => `sess_${next().padStart(43, "A")}`,
    reviewLink: () => `rvw_${next().padStart(43, "A")}`,
    code: () => next().toUpperCase().padStart(10, "0"),
    apiKey: () => `fbk_${next().padStart(43, "A")}`,
    webhookSecret: () => `whsec_${next().padStart(44, "A")}`,
    salt: () => next().padStart(32, "0"),
    chance: () => 0.5,
  };
}
