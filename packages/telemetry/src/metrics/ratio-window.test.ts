import { expect, it } from "vitest";
import { createRatioWindow } from "./ratio-window.ts";

it("forgets what is older than its window, and is 0 when nothing happened", () => {
  let now = 1_000_000;
  const window = createRatioWindow(60_000, () => now);
  expect(window.ratio()).toBe(0);
  window.add(true);
  now += 30_000;
  for (let times = 0; times < 3; times++) window.add(false);
  expect(window.ratio()).toBe(0.25);
  now += 35_000;
  expect(window.ratio()).toBe(0);
  now += 600_000;
  window.add(true);
  expect(window.ratio()).toBe(1);
});
