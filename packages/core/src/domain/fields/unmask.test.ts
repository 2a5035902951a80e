import type { Json, JsonObject } from "@formbridge/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileIntake } from "../intake/compile-intake.ts";
import { applyPatch } from "./apply-patch.ts";
import { maskFields } from "./mask.ts";

const secret = { type: "string", "x-sensitive": true };
const intake = compileIntake({
  id: "t",
  version: "1",
  name: "T",
  destination: { kind: "store" },
  schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      name: { type: "string" },
      ssn: secret,
      bank: { type: "object", "x-sensitive": true, properties: { iban: { type: "string" } } },
      person: { type: "object", additionalProperties: false, properties: { name: { type: "string" }, ssn: secret } },
      people: {
        type: "array",
        items: { type: "object", additionalProperties: false, properties: { name: { type: "string" }, ssn: secret } },
      },
      codes: { type: "array", items: secret },
    },
  },
});
const masked = { masked: true };

const after = (before: JsonObject, patch: JsonObject): JsonObject => applyPatch(before, patch, intake).fields;
const refused = (before: JsonObject, patch: JsonObject): string => {
  try {
    applyPatch(before, patch, intake);
  } catch (error) {
    return (error as { detail: { fields: { path: string }[] } }).detail.fields.map(({ path }) => path).join();
  }
  return "";
};

describe("[AUDIT-F19] a mask that is sent back", () => {
  it("keeps the stored value, at any position", () => {
    const before = { ssn: "1", bank: { iban: "2" }, person: { name: "A", ssn: "3" } };
    const sent = { ssn: masked, bank: masked, person: { name: "B", ssn: masked } };
    expect(after(before, sent)).toEqual({ ...before, person: { name: "B", ssn: "3" } });
    expect(after(before, { "person.ssn": masked, name: "N" })).toEqual({ ...before, name: "N" });
  });

  it("is refused where nothing is stored", () => {
    expect(refused({}, { ssn: masked })).toBe("ssn");
    expect(refused({}, { person: { ssn: masked } })).toBe("person.ssn");
    expect(refused({}, { people: [{ ssn: masked }] })).toBe("people.0.ssn");
  });

  it("is a value like any other where nothing is sensitive", () => {
    expect(after({}, { name: masked })).toEqual({ name: masked });
  });

  const people = [
    { name: "A", ssn: "1" },
    { name: "B", ssn: "2" },
  ];
  const [a, b] = [
    { name: "A", ssn: masked },
    { name: "B", ssn: masked },
  ];
  it.each<[string, Json[], Json[]]>([
    ["as they were", [a, b], people],
    ["in another order", [b, a], people.toReversed()],
    ["with one more", [a, b, { name: "C", ssn: "3" }], [...people, { name: "C", ssn: "3" }]],
    ["with one less", [b], people.slice(1)],
    ["with one changed in its place", [a, { name: "X", ssn: masked }], [people[0] as Json, { name: "X", ssn: "2" }]],
    ["with one new value", [{ name: "A", ssn: "9" }, b], [{ name: "A", ssn: "9" }, people[1] as Json]],
  ])("finds the items of a list again: %s", (_how, sent, stored) => {
    expect(after({ people }, { people: sent })).toEqual({ people: stored });
  });

  it.each<[string, Json[]]>([
    [
      "two changed items",
      [
        { name: "X", ssn: masked },
        { name: "Y", ssn: masked },
      ],
    ],
    ["a changed item that moved", [{ name: "X", ssn: masked }, a]],
    ["a changed item, and one less", [{ name: "X", ssn: masked }]],
    ["a copy of an item", [a, a, b]],
  ])("is refused where it is not clear whose it is: %s", (_how, sent) => {
    expect(refused({ people }, { people: sent })).toMatch(/^people\.\d\.ssn/);
  });

  it("matches items that look alike by their order, if all of them are there", () => {
    expect(after({ codes: ["1", "2"] }, { codes: [masked, masked, "3"] })).toEqual({ codes: ["1", "2", "3"] });
    expect(refused({ codes: ["1", "2"] }, { codes: [masked] })).toBe("codes.0");
  });

  it("changes nothing, whatever the fields are", () => {
    const text = fc.string({ maxLength: 3 });
    const person = fc.record({ name: text, ssn: text }, { requiredKeys: [] });
    const all = {
      name: text,
      ssn: text,
      bank: fc.record({ iban: text }),
      person,
      people: fc.array(person),
      codes: fc.array(text),
    };
    fc.assert(
      fc.property(fc.record(all, { requiredKeys: [] }), (fields) => {
        expect(after(fields, maskFields(fields, intake))).toEqual(fields);
      }),
    );
  });
});
