import { describe, expect, it } from "vitest";
import type { JsonSchema } from "./prepare-schema.ts";
import { contradicts, valueFor, variantOf, variantsOf, withoutConstants } from "./variants.ts";

const card = {
  type: "object",
  properties: { kind: { const: "card" }, number: { type: "string" }, note: { type: "string" } },
};
const bank = {
  type: "object",
  properties: { kind: { const: "bank" }, number: { type: "integer" }, note: { type: "string" } },
};
const kinds = variantsOf([card, bank]);
const fits = ({ type }: JsonSchema, value: unknown): boolean => type === typeof value;

describe("variants", () => {
  it("[FORM-TYPED] are distinguished by constants, which are chosen with them and have no field", () => {
    expect(kinds.constants).toEqual([{ kind: "card" }, { kind: "bank" }]);
    expect(Object.keys(withoutConstants(kinds, 1).properties as object)).toEqual(["number", "note"]);
    const same = { properties: { accepted: { const: true } } };
    expect(variantsOf([same, same]).constants).toEqual([{}, {}]);
  });

  it("keep the answers that mean the same in another variant, and drop the rest", () => {
    const value = { kind: "card", number: "12", note: "hi", beside: 1 };
    expect(valueFor(kinds, 1, value)).toEqual({ kind: "bank", note: "hi", beside: 1 });
    expect(valueFor(kinds, undefined, { kind: "card", number: "12" })).toBeUndefined();
    expect(valueFor(variantsOf([{ type: "string" }, { type: "number" }]), 1, "text")).toBeUndefined();
  });

  it("are recognized in a value", () => {
    expect(variantOf(kinds, { kind: "bank" }, fits)).toBe(1);
    expect(variantOf(kinds, {}, fits)).toBeUndefined();
    expect(variantOf(kinds, { beside: 1 }, fits)).toBeUndefined();
    const plain = variantsOf([{ properties: { a: {}, b: {} } }, { properties: { b: {}, c: {} } }]);
    expect(variantOf(plain, { b: 1, c: 2 }, fits)).toBe(1);
    expect(variantOf(variantsOf([{ type: "string" }, { type: "number" }]), 7, fits)).toBe(1);
  });

  it("change when somebody else has chosen another one", () => {
    expect(contradicts(kinds, 0, { kind: "bank" })).toBe(true);
    expect(contradicts(kinds, 0, { number: 1 })).toBe(false);
    expect(contradicts(kinds, 0, undefined)).toBe(false);
  });
});
