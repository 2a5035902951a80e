import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changesBetween, isEqual, patchOf, pruned, withChange } from "./changes.ts";

describe("the changes of a person", () => {
  it("[FORM-TYPED] are named member by member, and a list as a whole", () => {
    const before = { address: { city: "Paris", zip: "1" }, tags: ["a"] };
    const after = { address: { city: "Rome", zip: "1" }, tags: ["a", "b"], extra: {} };
    expect(changesBetween(before, after)).toEqual([
      { path: ["address", "city"], value: "Rome" },
      { path: ["tags"], value: ["a", "b"] },
    ]);
  });

  it("[FORM-TYPED] have no value where a field was emptied", () => {
    expect(changesBetween({ a: { b: 1 } }, { a: {} })).toEqual([{ path: ["a", "b"] }]);
    expect(patchOf([{ path: ["a", "b"] }])).toEqual({ "a.b": null });
  });

  it("replaces a value of another kind at once", () => {
    expect(changesBetween({ a: "text" }, { a: { b: 1 } })).toEqual([{ path: ["a"], value: { b: 1 } }]);
  });

  it("nests names with dots, which a dot-path can't hold", () => {
    expect(patchOf([{ path: ["a", "b.c"], value: 1 }])).toEqual({ a: { "b.c": 1 } });
  });

  const object = fc.dictionary(
    fc.constantFrom("a", "b", "toString", "x.y"),
    fc.oneof(
      fc.integer(),
      fc.array(fc.integer(), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("c", "d"), fc.integer(), { noNullPrototype: true }),
    ),
    { noNullPrototype: true },
  );

  it("lead from the old value to the new one, without parts that change nothing", () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const changes = changesBetween(before, after);
        const reached = changes.reduce<Record<string, unknown>>((fields, change) => withChange(fields, change), before);
        expect(pruned(reached)).toEqual(pruned(after));
        expect(changesBetween(after, after)).toEqual([]);
        for (const skipped of changes) {
          const others = changes.filter((change) => change !== skipped);
          const without = others.reduce<Record<string, unknown>>(
            (fields, change) => withChange(fields, change),
            before,
          );
          expect(isEqual(pruned(without), pruned(after))).toBe(false);
        }
      }),
    );
  });
});
