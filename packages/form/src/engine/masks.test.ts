import { describe, expect, it } from "vitest";
import { couldBe, holdsMask } from "./masks.ts";

const masked = { masked: true };

describe("masks", () => {
  it.each([
    [masked, "secret", true],
    [masked, undefined, false],
    [[masked, 1], ["secret", 1], true],
    [[masked, 1], ["secret", 2], false],
    [[masked], ["secret", "more"], false],
    [{ a: masked, b: 1 }, { a: "secret", b: 1 }, true],
    [{ a: masked }, { b: "secret" }, false],
    [{ a: masked }, ["secret"], false],
    ["open", "open", true],
    [{ masked: true, more: 1 }, "open", false],
  ])("[PAGES-SENSITIVE] %j could be %j: %s", (seen, value, isPossible) => {
    expect(couldBe(seen, value)).toBe(isPossible);
  });

  it("[PAGES-SENSITIVE] are found at any depth", () => {
    expect([masked, [[masked]], { a: { b: masked } }].map(holdsMask)).toEqual([true, true, true]);
    expect([{ masked: false }, [], "x", undefined].map(holdsMask)).toEqual([false, false, false, false]);
  });
});
