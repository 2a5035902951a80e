import { describe, expect, it } from "vitest";
import { createSchemaView } from "./schema-view.ts";

const closed = { additionalProperties: false };
const allows = (schema: Record<string, unknown>, path: string) =>
  createSchemaView(schema).ruleAt(path.split(".")).allowed;

describe("allowed places", () => {
  it("an open schema accepts unknown names, a closed one only declared ones", () => {
    expect(allows({ type: "object" }, "x.y")).toBe(true);
    expect(allows({ type: "object", properties: { a: {} }, ...closed }, "a.b")).toBe(true);
    expect(allows({ type: "object", properties: { a: {} }, ...closed }, "x")).toBe(false);
    expect(allows({ type: "object", unevaluatedProperties: false }, "x")).toBe(false);
  });

  it("a declaration in any branch counts", () => {
    const declares = { properties: { x: { type: "string" } } };
    for (const branch of [
      { allOf: [declares] },
      { anyOf: [{}, declares] },
      { oneOf: [declares] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: {}, then: declares },
      { if: {}, else: declares },
      { if: declares },
      { dependentSchemas: { a: declares } },
      { $ref: "#/$defs/d", $defs: { d: declares } },
      { patternProperties: { "^x": {} } },
    ]) {
      expect(allows({ ...branch, unevaluatedProperties: false }, "x")).toBe(true);
      expect(allows({ ...branch, unevaluatedProperties: false }, "y")).toBe(false);
    }
  });

  it("items of a list are found by index, in both drafts", () => {
    const item = { type: "object", properties: { a: {} }, ...closed };
    expect(allows({ properties: { l: { type: "array", items: item } } }, "l.7.a")).toBe(true);
    expect(allows({ properties: { l: { type: "array", items: item } } }, "l.7.b")).toBe(false);
    expect(allows({ properties: { l: { type: "array", prefixItems: [item] } } }, "l.0.b")).toBe(false);
    expect(allows({ properties: { l: { type: "array", items: [item] } } }, "l.0.b")).toBe(false);
  });

  it("text has no members, and a nullable object has", () => {
    expect(allows({ properties: { name: { type: "string" } } }, "name.first")).toBe(false);
    const nullable = { anyOf: [{ type: "null" }, { type: "object" }] };
    expect(allows({ properties: { name: nullable } }, "name.first")).toBe(true);
  });

  it("a recursive schema and a circle of references end", () => {
    const tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } }, ...closed };
    expect(allows(tree, "kids.0.kids.3.kids")).toBe(true);
    expect(allows(tree, "kids.0.kids.3.x")).toBe(false);
    const circle = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    expect(allows(circle, "x")).toBe(true);
  });
});

describe("null", () => {
  it.each([
    [{ type: ["string", "null"] }, true],
    [{ type: "null" }, true],
    [{ enum: ["a", null] }, true],
    [{ const: null }, true],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, true],
    [{ $ref: "#/$defs/n" }, true],
    [{ type: ["string", "null"], enum: ["a"] }, false],
    [{ type: "string" }, false],
    [{}, false],
  ])("%j allows null: %s", (schema, expected) => {
    const view = createSchemaView({ properties: { f: schema }, $defs: { n: { type: ["null", "number"] } } });
    expect(view.ruleAt(["f"]).allowsNull).toBe(expected);
  });

  it("an undeclared property, or a condition that mentions null, does not allow it", () => {
    expect(createSchemaView({}).ruleAt(["x"]).allowsNull).toBe(false);
    const condition = { properties: { f: { type: "string" } }, if: { properties: { f: { type: "null" } } } };
    expect(createSchemaView(condition).ruleAt(["f"]).allowsNull).toBe(false);
  });
});

describe("marks", () => {
  const view = createSchemaView({
    properties: {
      bank: { "x-sensitive": true, "x-fill": "human", properties: { iban: {}, note: { "x-fill": "agent" } } },
      people: { type: "array", items: { properties: { ssn: { "x-sensitive": true } } } },
      docs: { "x-file": { accept: ["*/*"], maxBytes: 1, maxFiles: 2 } },
      w9: { $ref: "#/$defs/doc" },
    },
    $defs: { doc: { "x-file": { accept: ["*/*"], maxBytes: 1 } } },
  });

  it("are inherited by everything below", () => {
    expect(view.hasSensitive).toBe(true);
    expect(view.ruleAt(["bank", "iban"])).toMatchObject({ sensitive: true, fill: "human" });
    expect(view.ruleAt(["bank", "note"])).toMatchObject({ sensitive: true, fill: "agent" });
    expect(view.ruleAt(["bank", "unknown", "deep"]).sensitive).toBe(true);
    expect(view.ruleAt(["people", "3", "ssn"]).sensitive).toBe(true);
    expect(view.ruleAt(["people", "3"]).sensitive).toBe(false);
  });

  it("a file has no members to set, a list of files has items", () => {
    expect(view.ruleAt(["w9"]).file).toBeDefined();
    expect(view.ruleAt(["w9", "sha256"]).allowed).toBe(false);
    expect(view.ruleAt(["docs", "0"])).toMatchObject({ allowed: true, file: { maxFiles: 2 } });
    expect(view.ruleAt(["docs", "0", "0"]).allowed).toBe(false);
  });
});

it("endless unknown paths use bounded memory", () => {
  const view = createSchemaView({ properties: { a: { $ref: "#" } } });
  const first = view.ruleAt(["x0", "y0"]);
  for (let i = 1; i < 1000; i++) expect(view.ruleAt([`x${i}`, `y${i}`])).toBe(first);
  expect(view.ruleAt(["a", "a", "a", "x"])).toBe(view.ruleAt(["a", "x"]));
});

describe("leaves", () => {
  const leaves = (schema: Record<string, unknown>) =>
    createSchemaView(schema)
      .leaves()
      .map((path) => path.join("."));

  it("are the declared paths without members, in the schema's order, of every branch", () => {
    const pair = { type: "object", properties: { x: {}, y: {} } };
    expect(leaves({ properties: { b: pair, a: {}, list: { type: "array", items: pair } } })).toEqual([
      "b.x",
      "b.y",
      "a",
      "list",
    ]);
    expect(leaves({ properties: { a: {} }, allOf: [{ properties: { b: {} } }] })).toEqual(["a", "b"]);
    expect(leaves({ properties: { a: false, s: { ...pair, "x-sensitive": true }, f: { "x-file": {} } } })).toEqual([
      "s",
      "f",
    ]);
  });

  it("are finite, however often a schema refers to itself", () => {
    expect(leaves({ properties: { a: {}, again: { $ref: "#" } } })).toEqual(["a", "again.a", "again.again"]);
    const level = (next: string) => ({
      properties: Object.fromEntries([..."abcdefgh"].map((n) => [n, { $ref: next }])),
    });
    const $defs = Object.fromEntries([0, 1, 2, 3, 4, 5].map((n) => [n, level(`#/$defs/${n + 1}`)]));
    expect(leaves({ $ref: "#/$defs/0", $defs: { ...$defs, 6: {} } })).toHaveLength(1000);
  });
});
