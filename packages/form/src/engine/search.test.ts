import { expect, it } from "vitest";
import { matching } from "./search.ts";

const choices = ["Aargau", "Bern", "Zürich", "Old Zurich road"].map((label) => ({ label }));
const found = (query: string) => matching(choices, query).map(({ label }) => label);

it("finds choices without regard to case and accents, beginnings first", () => {
  expect(found("zur")).toEqual(["Zürich", "Old Zurich road"]);
  expect(found("ZÜR")).toEqual(["Zürich", "Old Zurich road"]);
  expect(found("  ")).toHaveLength(4);
  expect(found("nowhere")).toEqual([]);
});
