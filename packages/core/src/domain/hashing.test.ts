import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "./hashing.ts";

it("spells every JSON value as the reference implementation of RFC 8785 does", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2000 },
  );
});

it("orders keys by code units and leaves out what JSON leaves out", () => {
  expect(canonicalJson({ "\u20ac": 1, "\r": 2, "1": 3, "\ud83d\ude02": 4, b: undefined })).toBe(
    '{"\\r":2,"1":3,"\u20ac":1,"\ud83d\ude02":4}',
  );
});

it("refuses values that are not JSON", () => {
  expect(() => canonicalJson(undefined)).toThrow(TypeError);
  expect(() => canonicalJson({ a: Number.NaN })).toThrow(TypeError);
});
