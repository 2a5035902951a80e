import { describe, expect, it } from "vitest";
import { hintFor, inOrder, isInStep, labelFrom } from "./hints.ts";

describe("hints", () => {
  it("of a list's first item are those of all its items", () => {
    const hints = { "lines.0.amount": { label: "Amount" } };
    expect(hintFor(hints, ["lines", 7, "amount"])).toEqual({ label: "Amount" });
    expect(hintFor(hints, ["toString"])).toEqual({});
  });

  it("[FORM-DRAWN] put fields with an order first, and leave the others as the schema has them", () => {
    const hints = { "a.z": { order: 1 }, "a.y": { order: 2 } };
    expect(inOrder(["w", "x", "y", "z"], hints, ["a"])).toEqual(["z", "y", "w", "x"]);
  });

  it("[FORM-DRAWN] a step has its fields, what is inside them, and the groups around them", () => {
    const step = ["address.city", "lines"];
    expect(isInStep(step, ["address"])).toBe(true);
    expect(isInStep(step, ["address", "city"])).toBe(true);
    expect(isInStep(step, ["address", "zip"])).toBe(false);
    expect(isInStep(step, ["lines", 3, "amount"])).toBe(true);
    expect(isInStep(step, ["line"])).toBe(false);
    expect(isInStep(undefined, ["anything"])).toBe(true);
  });

  it("names are read as words", () => {
    expect(labelFrom("company_name")).toBe("Company name");
    expect(labelFrom("companyName")).toBe("Company name");
    expect(labelFrom("taxID")).toBe("Tax ID");
    expect(labelFrom("VAT")).toBe("VAT");
    expect(labelFrom("Your own Name")).toBe("Your own Name");
    expect(labelFrom("")).toBe("");
  });
});
