import { describe, expect, it } from "vitest";
import { createBatches } from "./in-batches.ts";

function scene({ atOnce = 100, isShared = false } = {}) {
  const ending = new AbortController();
  const batches = createBatches({ atOnce, isShared: () => isShared, signal: ending.signal });
  return { batches, stop: () => ending.abort() };
}
const items = Array.from({ length: 100 }, (_, index) => index);

describe("work in batches", () => {
  it("runs fewer at once while callers are active", async () => {
    const sizes = async (isShared: boolean): Promise<number[]> => {
      const limits: number[] = [];
      await scene({ isShared }).batches.forget(250, async (limit) => {
        limits.push(limit);
        return limit;
      });
      return limits;
    };
    expect(await sizes(false)).toEqual([100, 100, 50]);
    expect((await sizes(true)).slice(0, 3)).toEqual([16, 16, 16]);
  });

  it("ends when there is nothing left", async () => {
    let calls = 0;
    const forgotten = await scene().batches.forget(1000, async () => {
      calls += 1;
      return 7;
    });
    expect([forgotten, calls]).toEqual([7, 1]);
  });

  it("never runs more at once than allowed", async () => {
    let running = 0;
    let most = 0;
    const ran = await scene({ atOnce: 7 }).batches.run(items, async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running -= 1;
      return true;
    });
    expect([most, ran.done]).toEqual([7, 100]);
  });

  it("counts what was done, and keeps what failed", async () => {
    const ran = await scene().batches.run([1, 2, 3, 4], async (item) => {
      if (item === 2) throw new Error("two");
      return item !== 3;
    });
    expect(ran).toEqual({ done: 2, failures: [new Error("two")] });
  });

  it("starts no batch after it was stopped", async () => {
    const { batches, stop } = scene({ atOnce: 8 });
    const begun: number[] = [];
    const ran = await batches.run(items, async (item) => {
      begun.push(item);
      if (item === 12) stop();
      return true;
    });
    expect([ran.done, begun.length]).toEqual([16, 16]);
  });
});
