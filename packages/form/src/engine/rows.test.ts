import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { moved, type Row, rowsFor, storedIndexes, tupleOf, valuesOf } from "./rows.ts";

const rowsOf = (...values: unknown[]): Row[] => values.map((value, key) => ({ key, value }));
const keysAfter = (rows: readonly Row[], stored: unknown[]): unknown[] => {
  let next = 100;
  return rowsFor(stored, { rows, read: valuesOf, newKey: () => next++ }).map(({ key, value }) => [key, value]);
};

describe("rows of a list", () => {
  it("[FORM-LISTS] are stored without those that are still empty", () => {
    expect(valuesOf(rowsOf("a", undefined, {}, { b: undefined }, "c"))).toEqual(["a", "c"]);
    expect(storedIndexes(rowsOf("a", undefined, "c", {}))).toEqual([0, 2, 1, 3]);
  });

  it("[FORM-LISTS] of a tuple keep their positions", () => {
    expect(tupleOf(rowsOf(undefined, "b", undefined))).toEqual([null, "b"]);
    expect(tupleOf(rowsOf(undefined, undefined))).toEqual([]);
  });

  it("stay while their values stay the same", () => {
    const rows = rowsOf("a", undefined);
    expect(rowsFor(["a"], { rows, read: valuesOf, newKey: () => 9 })).toBe(rows);
  });

  it("keep their keys when somebody else adds, removes or moves others", () => {
    expect(keysAfter(rowsOf("a", "b"), ["new", "a", "b"])).toEqual([
      [100, "new"],
      [0, "a"],
      [1, "b"],
    ]);
    expect(keysAfter(rowsOf("a", "b", "c"), ["a", "c"])).toEqual([
      [0, "a"],
      [2, "c"],
    ]);
    expect(keysAfter(rowsOf("a", "b"), ["b", "a"])).toEqual([
      [1, "b"],
      [0, "a"],
    ]);
    expect(keysAfter(rowsOf("a", "b", undefined), ["a", "B"])).toEqual([
      [0, "a"],
      [1, "B"],
      [2, undefined],
    ]);
  });

  it("show what is stored, each under its own key", () => {
    const values = fc.array(fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }), { maxLength: 6 });
    const stored = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(values, stored, (before, after) => {
        let next = 100;
        const rows = rowsFor(after, { rows: rowsOf(...before), read: valuesOf, newKey: () => next++ });
        expect(valuesOf(rows)).toEqual(after);
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
        expect(rows.length - after.length).toBe(before.filter((value) => value === undefined).length);
      }),
    );
  });

  it("move one at a time", () => {
    expect(moved(rowsOf("a", "b", "c"), 0, 1).map(({ key }) => key)).toEqual([1, 0, 2]);
  });
});
