import type { Json, JsonObject } from "@formbridge/contract";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createSchemaView } from "../intake/schema-view.ts";
import { joinSensitive, MASK, MASKED, maskFields, splitSensitive } from "./mask.ts";

const secret = { "x-sensitive": true };
const view = createSchemaView({
  properties: {
    ssn: secret,
    people: { items: { properties: { pin: secret } } },
    codes: { type: "array", items: secret },
    "a/b~": { properties: { c: secret } },
  },
});

it("sensitive values are masked at every depth, also inside arrays", () => {
  const fields = { ssn: { any: 1 }, people: [{ pin: 1, name: "A" }], codes: [1, 2], other: 3 };
  expect(maskFields(fields, view)).toEqual({
    ssn: MASKED,
    people: [{ pin: MASKED, name: "A" }],
    codes: [MASKED, MASKED],
    other: 3,
  });
});

it("without anything sensitive the fields are returned as they are", () => {
  const plain = createSchemaView({});
  const fields = { a: 1 };
  expect(maskFields(fields, plain)).toBe(fields);
  expect(splitSensitive(fields, plain)).toEqual({ open: fields });
  expect(joinSensitive(fields, undefined)).toBe(fields);
  expect(splitSensitive({ other: 1 }, view).sealed).toBeUndefined();
});

it("split values are joined without loss, and the open part contains no secret", () => {
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(1, "x", MASK, null, true),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("pin", "c", "ssn", "~1", "0"), tie("json"), { noNullPrototype: true }),
    ),
  }));
  const names = fc.constantFrom("ssn", "people", "codes", "a/b~", "x");
  fc.assert(
    fc.property(fc.dictionary(names, json, { noNullPrototype: true }), (fields: JsonObject) => {
      const before = JSON.stringify(fields);
      const { open, sealed } = splitSensitive(fields, view);
      expect(maskFields(open, view)).toEqual(maskFields(fields, view));
      expect(JSON.stringify(joinSensitive(open, sealed))).toBe(before);
      if (Object.hasOwn(fields, "ssn")) expect(open.ssn).toBe(MASK);
      expect(JSON.stringify(fields)).toBe(before);
    }),
  );
});
