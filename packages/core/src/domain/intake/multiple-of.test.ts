import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMultipleOf } from "./multiple-of.ts";

describe("multiples", () => {
  it.each([
    [0.07, 0.01],
    [19.99, 0.01],
    [-0.3, 0.1],
    [0, 0.01],
    [99_999_999.99, 0.01],
    [1e21, 0.5],
    [1e-7, 1e-8],
    [5e-324, 5e-324],
  ])("%d is a multiple of %d", (value, of) => {
    expect(isMultipleOf(value, of)).toBe(true);
  });

  it.each([
    [0.075, 0.01],
    [1e-7, 1],
    [99_999_999.995, 0.01],
    [1, 0.3],
    [1e300, 7],
  ])("%d isn't a multiple of %d", (value, of) => {
    expect(isMultipleOf(value, of)).toBe(false);
  });

  it("every amount in cents is a multiple of a cent", () => {
    fc.assert(fc.property(fc.integer(), (cents) => isMultipleOf(cents / 100, 0.01)));
  });
});
