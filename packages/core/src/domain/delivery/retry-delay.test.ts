import fc from "fast-check";
import { expect, it } from "vitest";
import { DEFAULT_RETRY_POLICY, retryDelay } from "./retry-delay.ts";

const steady = { maxAttempts: 5, initialDelayMs: 100, maxDelayMs: 1_000, factor: 3, jitter: false };

it("grows by its factor up to its maximum, and ends with the last attempt", () => {
  const delays = [1, 2, 3, 4, 5].map((tries) => retryDelay(steady, { tries, chance: 0 }));
  expect(delays).toEqual([100, 300, 900, 1_000, undefined]);
});

it("spreads out those that failed together, between half of the delay and all of it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (tries, chance) => {
      const whole = retryDelay({ ...DEFAULT_RETRY_POLICY, jitter: false }, { tries, chance }) ?? 0;
      const delay = retryDelay(undefined, { tries, chance }) ?? 0;
      expect(delay).toBeLessThanOrEqual(whole);
      expect(delay).toBeGreaterThanOrEqual(whole / 2);
    }),
  );
});

it("respects the time that a destination asks for", () => {
  expect(retryDelay(steady, { tries: 1, chance: 0, retryAfterMs: 60_000 })).toBe(60_000);
  expect(retryDelay(steady, { tries: 4, chance: 0, retryAfterMs: 1 })).toBe(1_000);
  expect(retryDelay(steady, { tries: 5, chance: 0, retryAfterMs: 1 })).toBeUndefined();
});
