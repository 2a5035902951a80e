const MAX_FAILURES = 5;
const PROBE_EVERY_MS = 1_000;

/** Keeps calls from a server that does not answer: after some failures in a row only one call a second goes to it. */
export interface Breaker {
  /** May this call go? */
  admits(): boolean;
  succeeded(): void;
  /** Answers whether it is time to try another way: after each so many failures in a row. */
  failed(): boolean;
}

export function createBreaker(now: () => number = () => performance.now()): Breaker {
  let failures = 0;
  let nextProbe = 0;
  return {
    admits() {
      if (failures < MAX_FAILURES) return true;
      if (now() < nextProbe) return false;
      nextProbe = now() + PROBE_EVERY_MS;
      return true;
    },
    succeeded() {
      failures = 0;
    },
    failed() {
      failures += 1;
      if (failures === MAX_FAILURES) nextProbe = now() + PROBE_EVERY_MS;
      return failures % MAX_FAILURES === 0;
    },
  };
}
