/** A small seeded generator, so that every run can be repeated. */
export interface Random {
  /** 0 ≤ n < 1. */
  next(): number;
  /** 0 ≤ n < below, whole. */
  below(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  text(length: number, alphabet?: string): string;
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/** mulberry32: fast, and good enough to choose cases. Each case has its own stream, so one can be repeated alone. */
export function createRandom(seed: number, stream = 0): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick(from) {
      const chosen = from[below(from.length)];
      if (chosen === undefined && !(from.length > 0)) throw new Error("nothing to pick from");
      return chosen as (typeof from)[number];
    },
    text: (length, alphabet = BASE64URL) =>
      Array.from({ length }, () => alphabet[below(alphabet.length)] ?? "a").join(""),
  };
}
