import { describe, expect, it } from "vitest";
import { conflictingPaths } from "./conflicts.ts";

const current = { name: "B", address: { city: "Bern", zip: "1" }, items: [1] };
const changedAt = { name: 5, "address.city": 5, "address.zip": 2, items: 5 };
const ask = (set: [string, unknown][], removed: string[] = [], sinceVersion = 3) =>
  conflictingPaths({
    attempted: {
      set: set.map(([path, value]) => ({ path: path.split("."), value: value as string })),
      removed: removed.map((path) => path.split(".")),
    },
    current,
    changedAt,
    sinceVersion,
  });

describe("conflicts", () => {
  it("a value that somebody changed since is one, an older one is not", () => {
    expect(
      ask([
        ["name", "C"],
        ["address.zip", "2"],
      ]),
    ).toEqual(["name"]);
    expect(ask([["name", "C"]], [], 5)).toEqual([]);
  });

  it("the same value on both sides is none", () => {
    expect(
      ask([
        ["name", "B"],
        ["items", [1]],
      ]),
    ).toEqual([]);
  });

  it("a change above or below the place counts", () => {
    expect(ask([["address", "none"]])).toEqual(["address"]);
    expect(ask([["items.0", 2]])).toEqual(["items.0"]);
    expect(ask([["addr", 1]])).toEqual([]);
  });

  it("deleting what was changed since is one, deleting what is absent is none", () => {
    expect(ask([], ["name", "address.zip", "gone"])).toEqual(["name"]);
  });
});
