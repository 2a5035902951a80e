import type { Instant, RateLimiter, RateRule } from "@formbridge/core";
import { describe, expect, it } from "vitest";
import { createClock } from "./harness.ts";

const RULE: RateRule = { name: "lookups", limit: 3, windowMs: 1_000 };

export function describeRateLimiter(open: (now: () => Instant) => RateLimiter): void {
  const fresh = () => {
    const clock = createClock();
    return { clock, limiter: open(clock.now) };
  };

  describe("rate limiter", () => {
    it("allows as many hits as the rule says, and no more", async () => {
      const { limiter } = fresh();
      const verdicts = [];
      for (let hit = 0; hit < 5; hit += 1) verdicts.push(await limiter.hit(RULE, "a"));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
      expect(verdicts[0]?.rule).toEqual(RULE);
    });

    it("allows hits again when the window is over", async () => {
      const { limiter, clock } = fresh();
      for (let hit = 0; hit < 4; hit += 1) await limiter.hit(RULE, "a");
      const { resetMs } = await limiter.peek(RULE, "a");
      expect(resetMs).toBeGreaterThan(0);
      expect(resetMs).toBeLessThanOrEqual(RULE.windowMs);
      clock.advance(2 * RULE.windowMs);
      expect(await limiter.hit(RULE, "a")).toMatchObject({ allowed: true, remaining: 2 });
    });

    it("counts subjects and rules separately", async () => {
      const { limiter } = fresh();
      for (let hit = 0; hit < 3; hit += 1) await limiter.hit(RULE, "a");
      expect((await limiter.hit(RULE, "b")).allowed).toBe(true);
      expect((await limiter.hit({ ...RULE, name: "creates" }, "a")).allowed).toBe(true);
      expect((await limiter.hit(RULE, "a")).allowed).toBe(false);
    });

    it("[AUDIT-F36] counts a hit with its weight, also one of many gigabytes", async () => {
      const { limiter } = fresh();
      const bytes: RateRule = { ...RULE, name: "bytes", limit: 50_000_000_000 };
      expect(await limiter.hit(bytes, "a", 30_000_000_000)).toMatchObject({ allowed: true, remaining: 20_000_000_000 });
      expect(await limiter.peek(bytes, "a")).toMatchObject({ allowed: true, remaining: 20_000_000_000 });
      expect(await limiter.hit(bytes, "a", 30_000_000_000)).toMatchObject({ allowed: false, remaining: 0 });
    });

    it("peeks without counting: would another hit be allowed?", async () => {
      const { limiter } = fresh();
      for (let look = 0; look < 5; look += 1) {
        expect(await limiter.peek(RULE, "a")).toMatchObject({ allowed: true, remaining: 3 });
      }
      for (let hit = 0; hit < 3; hit += 1) await limiter.hit(RULE, "a");
      expect(await limiter.peek(RULE, "a")).toMatchObject({ allowed: false, remaining: 0 });
    });
  });
}
