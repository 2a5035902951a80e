import type { AlarmWindows, Mark } from "@formbridge/core";
import { describe, expect, it } from "vitest";

const START = Date.UTC(2026, 0, 1);
const mark = (window: string, member: string, after = 0, atMost = 10): Mark => ({
  window,
  member,
  at: START + after,
  windowMs: 60_000,
  atMost,
});

/** `open` returns two handles on the same windows where several processes can share them, else the same one twice. */
export function describeAlarmWindows(open: () => [AlarmWindows, AlarmWindows]): void {
  describe("alarm windows", () => {
    it("count different members, the marks of one call included", async () => {
      const [windows] = open();
      expect(await windows.add([mark("a", "x"), mark("a", "y"), mark("b", "x"), mark("a", "x", 5)])).toEqual([
        2, 2, 1, 2,
      ]);
      expect(await windows.add([mark("a", "z", 10)])).toEqual([3]);
    });

    it("slide: a member counts for the window's time since it was last seen", async () => {
      const [windows] = open();
      await windows.add([mark("a", "x"), mark("a", "y")]);
      await windows.add([mark("a", "x", 30_000)]);
      expect(await windows.add([mark("a", "z", 59_999)])).toEqual([3]);
      expect(await windows.add([mark("a", "z", 60_000)])).toEqual([2]);
      expect(await windows.add([mark("a", "z", 90_000)])).toEqual([1]);
    });

    it("count only up to the limit", async () => {
      const [windows] = open();
      const marks = Array.from({ length: 50 }, (_, index) => mark("a", `m${index}`, index, 4));
      expect((await windows.add(marks)).at(-1)).toBe(4);
    });

    it("are shared: of concurrent calls, one counts the marks of both", async () => {
      const [one, other] = open();
      for (let round = 0; round < 5; round++) {
        const counts = await Promise.all([
          one.add([mark(`w${round}`, "x"), mark(`v${round}`, "x")]),
          other.add([mark(`v${round}`, "y"), mark(`w${round}`, "y")]),
        ]);
        expect(Math.max(counts[0][0] ?? 0, counts[1][1] ?? 0)).toBe(2);
      }
    });
  });
}
