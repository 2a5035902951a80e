import { describe, expect, it } from "vitest";
import { createSteps } from "./in-steps.ts";

interface Scene {
  atOnce?: number;
  isShared?: boolean;
  /** What a step costs, and what each of its items adds. */
  stepMs?: number;
  itemMs?: number;
}

/** Steps on a clock that only their own work moves. */
function scene({ atOnce = 1000, isShared = false, stepMs = 0, itemMs = 0.125 }: Scene = {}) {
  let now = 0;
  const sizes: number[] = [];
  const rests: number[] = [];
  const ending = new AbortController();
  const clock = {
    now: () => now,
    async rest(ms: number) {
      rests.push(ms);
      now += ms;
    },
  };
  const steps = createSteps({ atOnce, isShared: () => isShared, signal: ending.signal, clock });
  /** Forgetting is told its limit, so it shows the size of each step. */
  const work = async (limit: number): Promise<number> => {
    sizes.push(limit);
    now += stepMs + limit * itemMs;
    return limit;
  };
  return { steps, work, sizes, rests, stop: () => ending.abort() };
}

describe("a long piece of work in steps", () => {
  it("takes as many at once as fit in a step's time, alone and beside others", async () => {
    const alone = scene();
    await alone.steps.forget(2000, alone.work);
    expect(alone.sizes.slice(0, 5)).toEqual([8, 16, 32, 64, 80]);
    expect(new Set(alone.rests)).toEqual(new Set([0]));
    const shared = scene({ isShared: true });
    await shared.steps.forget(2000, shared.work);
    expect(shared.sizes.slice(0, 5)).toEqual([8, 16, 24, 24, 24]);
  });

  it("rests as long as it worked when somebody else is there", async () => {
    const { steps, work, rests } = scene({ isShared: true });
    await steps.forget(500, work);
    expect(rests.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it("does not fall to a few a step where the disk is slow", async () => {
    const { steps, work, sizes } = scene({ isShared: true, stepMs: 50 });
    await steps.forget(200, work);
    expect(Math.min(...sizes.slice(0, -1))).toBe(8);
  });

  it("never does more at once than it may", async () => {
    let running = 0;
    let most = 0;
    const { steps } = scene({ atOnce: 7, itemMs: 0 });
    const items = Array.from({ length: 100 }, (_, index) => index);
    const ran = await steps.run(items, async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running -= 1;
      return true;
    });
    expect([most, ran.done]).toEqual([7, 100]);
  });

  it("tells what failed and what was in vain from what was done", async () => {
    const { steps } = scene();
    const ran = await steps.run([1, 2, 3, 4], async (item) => {
      if (item === 2) throw new Error("two");
      return item !== 3;
    });
    expect(ran).toEqual({ done: 2, failures: [new Error("two")] });
  });

  it("begins no step after it was called off", async () => {
    const { steps, stop } = scene({ atOnce: 8 });
    const begun: number[] = [];
    const items = Array.from({ length: 100 }, (_, index) => index);
    const ran = await steps.run(items, async (item) => {
      begun.push(item);
      if (item === 12) stop();
      return true;
    });
    expect([ran.done, begun.length]).toEqual([16, 16]);
  });
});
