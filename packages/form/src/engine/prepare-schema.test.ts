import { describe, expect, it } from "vitest";
import { type JsonSchema, prepareSchema } from "./prepare-schema.ts";

const prepared = (schema: JsonSchema): JsonSchema => prepareSchema(schema) as JsonSchema;
const property = (schema: JsonSchema): unknown => {
  const { properties } = prepared({ type: "object", properties: { field: schema } });
  return (properties as JsonSchema).field;
};

describe("preparing a schema for the form", () => {
  it("[FORM-TYPED] drops defaults everywhere, but not a field of that name", () => {
    const { properties } = prepared({
      type: "object",
      properties: { default: { type: "string", default: "x" }, list: { type: "array", items: { default: 1 } } },
    }) as { properties: Record<string, JsonSchema> };
    expect(properties.default).toEqual({ type: "string" });
    expect(properties.list?.items).not.toHaveProperty("default");
  });

  it("reads the type that a schema implies", () => {
    expect(property({ properties: { a: true } })).toMatchObject({ type: "object" });
    expect(property({ items: { type: "string" } })).toMatchObject({ type: "array" });
    expect(property({ minimum: 3 })).toMatchObject({ type: "number" });
    expect(property({ format: "email" })).toMatchObject({ type: "string" });
    expect(property({})).toEqual({ type: "string", "x-anything": true });
    expect(property(true as never)).toEqual({ type: "string", "x-anything": true });
    expect(property({ type: "array" })).toMatchObject({ items: { "x-anything": true } });
    expect(property({ type: "object" })).toMatchObject({ additionalProperties: true });
  });

  it("takes null away beside other values", () => {
    expect(property({ type: ["string", "null"] })).toEqual({ type: "string" });
    expect(property({ enum: ["a", null] })).toEqual({ enum: ["a"] });
    const title = { title: "Where" };
    expect(property({ ...title, anyOf: [{ type: "integer" }, { type: "null" }] })).toEqual({
      ...title,
      type: "integer",
    });
    const reference = { $ref: "#/$defs/address" };
    expect(property({ ...title, oneOf: [reference, { type: "null" }] })).toEqual({ ...title, ...reference });
  });

  it("writes the keywords of 2020-12 as those of draft-07", () => {
    expect(
      prepared({
        type: "object",
        properties: { pair: { type: "array", prefixItems: [{ type: "string" }], items: false } },
        dependentRequired: { a: ["b"], c: ["d"] },
        dependentSchemas: { c: { properties: { e: { type: "string" } } } },
      }),
    ).toMatchObject({
      properties: { pair: { items: [{ type: "string" }], additionalItems: false } },
      dependencies: { a: ["b"], c: { allOf: [{ properties: { e: { type: "string" } } }, { required: ["d"] }] } },
    });
  });

  it("leaves conditions as they are, because they test values", () => {
    const condition = { properties: { kind: { const: 7 }, other: {} }, required: ["kind"] };
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    expect(prepared({ type: "object", if: condition, then: {} }).if).toEqual(condition);
  });

  it("turns anchors, the schema's own address and dynamic references into pointers", () => {
    const { properties } = prepared({
      $id: "https://example.com/order",
      type: "object",
      properties: {
        a: { $ref: "#place" },
        b: { $ref: "https://example.com/order#/$defs/place" },
        c: { $dynamicRef: "#place" },
      },
      $defs: { place: { $anchor: "place", type: "string" } },
    }) as { properties: Record<string, JsonSchema> };
    for (const name of ["a", "b", "c"]) expect(properties[name]?.$ref).toBe("#/$defs/place");
  });
});

describe("alternatives", () => {
  const group = (name: string, more: JsonSchema = {}) => ({
    type: "object",
    properties: { kind: { const: name }, [name]: { type: "string" } },
    ...more,
  });

  it("stay a question where they are kinds of a thing", () => {
    expect(property({ oneOf: [group("card"), group("bank")] })).toHaveProperty("oneOf");
  });

  it("of constants stay a choice", () => {
    const oneOf = [
      { const: "de", title: "Germany" },
      { const: "fr", title: "France" },
    ];
    expect(property({ type: "string", oneOf })).toEqual({ type: "string", oneOf });
  });

  it("of one type are one input", () => {
    const anyOf = [
      { type: "string", format: "email" },
      { type: "string", pattern: "^x" },
    ];
    expect(property({ anyOf })).toEqual({ type: "string" });
    expect(property({ anyOf: [{ type: "integer" }, { type: "number" }] })).toEqual({ type: "number" });
  });

  it("that only say which fields go together are not drawn", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(prepared(schema)).not.toHaveProperty("anyOf");
  });

  it("that a field beside them decides depend on that field", () => {
    const schema = {
      type: "object",
      properties: { kind: { enum: ["card", "bank"] } },
      oneOf: [group("card"), group("bank")],
    };
    const { oneOf, allOf } = prepared(schema);
    expect(oneOf).toBeUndefined();
    expect(allOf).toMatchObject([
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
      { if: { properties: { kind: { const: "card" } }, required: ["kind"] }, then: { properties: { card: {} } } },
      { if: { properties: { kind: { const: "bank" } } } },
    ]);
  });

  it("of types take text as text, and ask about the others", () => {
    expect(property({ type: ["string", "integer"] })).toEqual({ type: "string" });
    expect(property({ type: ["integer", "number"] })).toEqual({ type: "number" });
    expect(property({ type: ["boolean", "array"], title: "T", items: { type: "string" } })).toMatchObject({
      title: "T",
      anyOf: [{ type: "boolean" }, { type: "array", items: { type: "string" } }],
    });
  });
});
