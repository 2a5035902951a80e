import type { IntakeDefinition, Json } from "@formbridge/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAjv, toValidationSchema } from "./ajv.ts";
import { compileIntake } from "./compile-intake.ts";

const intakeOf = (schema: Record<string, unknown>, more: Partial<IntakeDefinition> = {}) =>
  compileIntake({ id: "t", version: "1", name: "T", schema, destination: { kind: "store" }, ...more });
const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: "object",
  properties,
  ...more,
});
const conditional = (condition: unknown, then: unknown) => ({ if: condition, then });
const file = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };
const reference = { uploadId: "upl_1", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 3, sha256: "00" };

describe("missing values", () => {
  const address = object({ city: { type: "string" }, zip: { type: "string" } }, { required: ["city", "zip"] });
  const items = { type: "array", items: object({ amount: { type: "number" } }, { required: ["amount"] }) };

  it("an absent required object is named once", () => {
    const { missing, errors } = intakeOf(object({ address }, { required: ["address"] })).validate({});
    expect(missing).toEqual(["address"]);
    expect(errors).toEqual([
      { path: "address", code: "required", message: "address is required", expected: "object", received: null },
    ]);
  });

  it("a present object is named by its missing members, array items by index", () => {
    const intake = intakeOf(object({ address, items }, { required: ["address"] }));
    expect(intake.validate({ address: { city: "Bern" }, items: [{ amount: 1 }, {}] }).missing).toEqual([
      "address.zip",
      "items.1.amount",
    ]);
  });

  it("a conditionally required field counts when its condition holds, without the condition itself", () => {
    const intake = intakeOf(
      object(
        { country: { type: "string" }, w9: file },
        conditional({ required: ["country"], properties: { country: { const: "US" } } }, { required: ["w9"] }),
      ),
    );
    expect(intake.validate({ country: "CH" })).toEqual({ missing: [], errors: [] });
    const { missing, errors } = intake.validate({ country: "US" });
    expect(missing).toEqual(["w9"]);
    expect(errors.map(({ code }) => code)).toEqual(["file_required"]);
  });

  it("a member that another one requires is missing, in both drafts", () => {
    const newer = intakeOf(object({}, { dependentRequired: { card: ["owner"] } }));
    const older = intakeOf(
      object({}, { $schema: "http://json-schema.org/draft-07/schema#", dependencies: { card: ["owner"] } }),
    );
    for (const intake of [newer, older]) expect(intake.validate({ card: "1" }).missing).toEqual(["owner"]);
  });

  it("a value that two rules require is listed once", () => {
    const intake = intakeOf(object({}, { required: ["a"], allOf: [{ required: ["a"] }] }));
    expect(intake.validate({}).errors).toHaveLength(1);
  });
});

describe("wrong values", () => {
  it.each([
    [{ type: "number" }, "x", "invalid_type", "number"],
    [{ type: "string", format: "email" }, "x", "invalid_format", "email"],
    [{ enum: ["a", "b"] }, "x", "invalid_value", ["a", "b"]],
    [{ const: 3 }, "x", "invalid_value", 3],
    [{ type: "number", minimum: 3 }, 2, "invalid_value", 3],
    [{ type: "number", multipleOf: 3 }, 2, "invalid_value", 3],
    [{ type: "number", multipleOf: 0.01 }, 0.075, "invalid_value", 0.01],
    [{ type: "string", pattern: "^a" }, "x", "invalid_value", "^a"],
    [{ type: "string", maxLength: 1 }, "xx", "too_long", 1],
    [{ type: "string", minLength: 3 }, "xx", "too_short", 3],
    [{ type: "array", maxItems: 1 }, [1, 2], "too_long", 1],
    [{ type: "array", minItems: 3 }, [1, 2], "too_short", 3],
    [
      { type: "array", uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      "invalid_value",
      "different items",
    ],
    [{ not: { const: 1 } }, 1, "custom", { not: { const: 1 } }],
  ])("%j refuses %j as %s", (schema, value, code, expected) => {
    const { errors, missing } = intakeOf(object({ f: schema })).validate({ f: value });
    expect(missing).toEqual([]);
    expect(errors).toMatchObject([{ path: "f", code, expected, received: value }]);
  });

  it("messages are short sentences", () => {
    const { errors } = intakeOf(object({ email: { type: "string", format: "email" } })).validate({ email: "x" });
    expect(errors[0]?.message).toBe("email must be a valid email");
    const crowd = intakeOf(object({ crowd: { type: "object", minProperties: 2 } }));
    expect(crowd.validate({ crowd: {} }).errors[0]?.message).toBe("crowd must have at least 2 entries");
  });

  it("a wrong type is not also a wrong value", () => {
    expect(intakeOf(object({ f: { type: "string", enum: ["a"] } })).validate({ f: 1 }).errors).toMatchObject([
      { code: "invalid_type" },
    ]);
  });

  it("names with slashes and tildes keep their spelling", () => {
    expect(intakeOf(object({ "a/b~c": { type: "string" } })).validate({ "a/b~c": 1 }).errors[0]?.path).toBe("a/b~c");
  });

  it("an unknown keyword does not compile, an x- annotation does", () => {
    expect(() => intakeOf(object({ f: { minimun: 3 } }))).toThrow(/minimun/);
    expect(() => intakeOf(object({ f: { "x-help": 3, title: "F", examples: [1] } }))).not.toThrow();
  });

  it("a schema stored with $async is validated at once, like any other", () => {
    const stored = object({ a: { type: "string" } }, { $async: true, required: ["a"] });
    expect(intakeOf(stored).validate({}).missing).toEqual(["a"]);
  });

  it("an amount with cents is a multiple of a cent", () => {
    const intake = intakeOf(object({ amount: { type: "number", multipleOf: 0.01 } }));
    expect(intake.validate({ amount: 0.07 }).errors).toEqual([]);
  });

  it("a field may have the name of something that every object has", () => {
    const intake = intakeOf(object({ toString: { type: "string" } }, { required: ["toString"] }));
    expect(intake.validate({}).missing).toEqual(["toString"]);
  });

  it("a huge list of wrong items gets a bounded response", () => {
    const intake = intakeOf(object({ l: { type: "array", items: { type: "object", required: ["a", "b"] } } }));
    const huge = Array.from({ length: 300_000 }, () => ({}));
    expect(intake.validate({ l: huge }).errors.length).toBeLessThanOrEqual(1000);
    expect(intake.validate({ l: huge.slice(0, 5000) }).errors).toHaveLength(1000);
  });
});

describe("branches", () => {
  const pay = (kind: "anyOf" | "oneOf") =>
    intakeOf(
      object(
        {
          pay: {
            [kind]: [
              object({ kind: { const: "card" }, number: { type: "string" } }, { required: ["kind", "number"] }),
              { $ref: "#/$defs/bank" },
            ],
          },
        },
        {
          $defs: {
            bank: object({ kind: { const: "bank" }, iban: { type: "string" } }, { required: ["kind", "iban"] }),
          },
        },
      ),
    );

  it.each(["anyOf", "oneOf"] as const)("%s: the branch that a fixed member names says what is wrong", (kind) => {
    expect(pay(kind).validate({ pay: { kind: "bank" } }).missing).toEqual(["pay.iban"]);
    expect(pay(kind).validate({ pay: { kind: "card", number: 3 } }).errors).toMatchObject([
      { path: "pay.number", code: "invalid_type" },
    ]);
  });

  it("when no branch clearly matches there is one error, and nothing is missing", () => {
    const { missing, errors } = pay("oneOf").validate({ pay: { kind: "cash" } });
    expect(missing).toEqual([]);
    expect(errors).toMatchObject([{ path: "pay", code: "custom" }]);
  });

  it("the only branch of the value's type is used", () => {
    const intake = intakeOf(object({ f: { anyOf: [{ type: "null" }, { type: "string", maxLength: 2 }] } }));
    expect(intake.validate({ f: "abc" }).errors).toMatchObject([{ path: "f", code: "too_long" }]);
  });

  it("either of two fields: one error that names both ways", () => {
    const intake = intakeOf(object({}, { required: ["a"], anyOf: [{ required: ["email"] }, { required: ["phone"] }] }));
    const { missing, errors } = intake.validate({});
    expect(missing).toEqual(["a"]);
    expect(errors).toHaveLength(2);
    expect(errors).toContainEqual(expect.objectContaining({ path: "", code: "custom", expected: ["email", "phone"] }));
  });

  it("alternatives of fixed values are one wrong value", () => {
    const intake = intakeOf(
      object({
        f: {
          oneOf: [
            { const: "a", title: "A" },
            { const: "b", title: "B" },
          ],
        },
      }),
    );
    expect(intake.validate({ f: "c" }).errors).toMatchObject([{ code: "invalid_value", expected: ["a", "b"] }]);
  });

  it("contains and propertyNames report a failure once", () => {
    const intake = intakeOf(
      object({
        l: { type: "array", contains: { type: "number" } },
        m: { type: "object", propertyNames: { maxLength: 2 } },
      }),
    );
    expect(intake.validate({ l: ["a", "b"], m: { abc: 1 } }).errors.map(({ path }) => path)).toEqual(["l", "m.abc"]);
  });
});

describe("files", () => {
  it("a reference is a file whatever type the author wrote", () => {
    const intake = intakeOf(object({ w9: { type: "string", ...file } }));
    expect(intake.validate({ w9: reference }).errors).toEqual([]);
    expect(intake.validate({ w9: "w9.pdf" }).errors).toMatchObject([
      { path: "w9", code: "invalid_type", expected: "file" },
    ]);
    expect(intake.validate({ w9: { uploadId: "upl_1" } }).errors).toHaveLength(1);
  });

  it("several files are a list with an upper bound", () => {
    const intake = intakeOf(object({ docs: { "x-file": { ...file["x-file"], maxFiles: 2 } } }));
    expect(intake.validate({ docs: [reference, reference] }).errors).toEqual([]);
    expect(intake.validate({ docs: [reference, reference, reference] }).errors).toMatchObject([{ code: "too_long" }]);
    expect(intake.validate({ docs: [reference, 1] }).errors).toMatchObject([{ path: "docs.1" }]);
  });
});

describe("sensitive values", () => {
  const person = object({ name: { type: "string" }, ssn: { type: "string", "x-sensitive": true } });

  it("what was received is masked", () => {
    expect(intakeOf(person).validate({ ssn: 123 }).errors).toMatchObject([{ path: "ssn", received: "[sensitive]" }]);
  });

  it("what was received is masked inside when it contains a sensitive value", () => {
    const intake = intakeOf(object({ people: { type: "array", maxItems: 0, items: person } }));
    expect(intake.validate({ people: [{ name: "A", ssn: "1" }] }).errors).toMatchObject([
      { path: "people", received: [{ name: "A", ssn: "[sensitive]" }] },
    ]);
  });
});

describe("a gate's rule", () => {
  const gate = (autoApproveIf: unknown) =>
    intakeOf(object({}), { approvalGates: [{ name: "g", reviewers: {}, autoApproveIf }] });

  it("approves on true only", () => {
    expect(gate({ "==": [{ var: "fields.level" }, "read"] }).autoApproves(0, { fields: { level: "read" } })).toBe(true);
    expect(gate({ "==": [{ var: "fields.level" }, "read"] }).autoApproves(0, { fields: {} })).toBe(false);
    expect(gate({ var: "fields.level" }).autoApproves(0, { fields: { level: "read" } })).toBe(false);
    expect(gate({ all: [{ var: "l" }, { "<": [{ var: "" }, 3] }] }).autoApproves(0, { l: [1, 2] })).toBe(true);
    expect(gate({ none: [{ var: "l" }, { "<": [{ var: "" }, 3] }] }).autoApproves(0, { l: [4] })).toBe(true);
  });

  it.each([
    ["an absent field", { "<": [{ var: "fields.amount" }, 100] }, { fields: {} }, false],
    ["a field that is null", { "<": [{ var: "fields.amount" }, 100] }, { fields: { amount: null } }, false],
    ["a default in its place", { "<": [{ var: ["fields.amount", 0] }, 100] }, { fields: {} }, true],
    ["a default of null", { "<": [{ var: ["fields.amount", null] }, 100] }, { fields: {} }, true],
    ["an absent field by val", { "<": [{ val: ["fields", "amount"] }, 100] }, { fields: {} }, false],
    ["what is not reached", { or: [true, { "==": [{ var: "fields.a" }, 1] }] }, { fields: {} }, true],
    ["absence, asked for", { "==": [{ length: [{ missing: ["fields.a"] }] }, 1] }, { fields: {} }, true],
    ["some of several", { "!": { missing_some: [1, ["fields.a", "fields.b"]] } }, { fields: { a: 1 } }, true],
    ["existence", { "!": { exists: ["fields", "a"] } }, { fields: {} }, true],
    ["a prototype", { "!!": { var: "fields.__proto__" } }, { fields: {} }, false],
    ["a prototype by val", { "!!": { val: ["fields", "__proto__"] } }, { fields: {} }, false],
    ["a prototype of a list", { "!!": { var: "fields.l.__proto__" } }, { fields: { l: [] } }, false],
    ["a constructor", { "!!": { var: "fields.constructor" } }, { fields: {} }, false],
    ["a constructor that exists", { exists: ["fields", "constructor"] }, { fields: {} }, false],
    ["a constructor that is not missing", { "!": { missing: "fields.constructor" } }, { fields: {} }, false],
    ["an escaped dot", { "==": [{ var: "fields.a\\.b" }, 1] }, { fields: { "a.b": 1 } }, true],
    ["an index", { "==": [{ var: "fields.l.1" }, 2] }, { fields: { l: [1, 2] } }, true],
    [
      "from inside a loop",
      { all: [{ var: "l" }, { "<": [{ var: "" }, { var: "../../max" }] }] },
      { l: [1], max: 2 },
      true,
    ],
    ["an absent member in a loop", { all: [{ var: "l" }, { "<": [{ var: "n" }, 3] }] }, { l: [{ n: 1 }, {}] }, false],
  ])("[AUDIT-F34] [AUDIT-F38] a rule that reads %s", (_what, rule, data, approves) => {
    expect(gate(rule).autoApproves(0, data as Json)).toBe(approves);
  });

  it("a rule that fails, a gate without one and no gate approve nothing", () => {
    expect(gate({ throw: "x" }).autoApproves(0, {})).toBe(false);
    expect(gate(undefined).autoApproves(0, {})).toBe(false);
    expect(gate(true).autoApproves(1, {})).toBe(false);
  });
});

it("the digest is the same for equal definitions, whatever the order of their keys", () => {
  const one = intakeOf({ type: "object", properties: {} });
  const other = intakeOf({ properties: {}, type: "object" });
  expect(one.digest).toBe(other.digest);
  expect(one.digest).toMatch(/^[0-9a-f]{64}$/);
});

it("there are findings exactly when the value is not valid", () => {
  const schema = object(
    {
      a: { anyOf: [{ type: "string", maxLength: 1 }, { $ref: "#/$defs/n" }, { type: "null" }] },
      b: { oneOf: [{ $ref: "#/$defs/n" }, { type: "object", required: ["k"] }, { type: "integer" }] },
      l: { type: "array", items: { $ref: "#/$defs/n" }, contains: { const: 1 }, uniqueItems: true },
    },
    {
      $defs: { n: { type: ["number", "object"], minimum: 1, properties: { a: { $ref: "#/properties/a" } } } },
      ...conditional({ required: ["a"] }, { required: ["b"] }),
      propertyNames: { maxLength: 1 },
    },
  );
  const intake = intakeOf(schema);
  const isValid = createAjv(schema, { allErrors: false }).compile(toValidationSchema(schema));
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
  const one = fc.oneof(
    value,
    fc.constantFrom<Json>("x", 0, 1, 2, null, { k: 1 }, { a: "xx" }, [1], [1, 1], [{ a: 0 }]),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "l", "zz"), one, { noNullPrototype: true }), (fields) => {
      expect(intake.validate(fields).errors.length === 0).toBe(isValid(fields));
    }),
    { numRuns: 1000 },
  );
});
