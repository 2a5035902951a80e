import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { deriveFields, type Plain, withoutMarks } from "./derive.ts";

const forAgents = (schema: Plain): Plain => withoutMarks(deriveFields(schema, { forAgents: true })) as Plain;
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  strictTuples: false,
  validateFormats: false,
});

/** All keywords in a schema, but not those inside values such as `const`. */
function keywordsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsIn);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (["enum", "const", "default", "examples"].includes(keyword)) return [keyword];
    const inner = keyword === "properties" ? Object.values(value as object) : value;
    return [keyword, ...keywordsIn(inner)];
  });
}

const REFUSED_AT_THE_ROOT = ["allOf", "anyOf", "oneOf", "if", "then", "else", "not", "$ref", "$defs"];

const address = {
  type: "object",
  title: "Address",
  required: ["city"],
  additionalProperties: false,
  properties: { city: { type: "string", description: "The town." }, zip: { type: "string", examples: ["10115"] } },
};

const CASES: { name: string; schema: Plain; valid: unknown[] }[] = [
  {
    name: "references into $defs, also of references",
    schema: {
      type: "object",
      properties: { home: { $ref: "#/$defs/place" }, work: { $ref: "#/$defs/place", title: "Work" } },
      $defs: { place: { $ref: "#/$defs/address" }, address },
    },
    valid: [{ home: { city: "Paris" }, work: { city: "Rome", zip: "00100" } }, { home: { zip: "1" } }],
  },
  {
    name: "draft-07's definitions",
    schema: { type: "object", properties: { home: { $ref: "#/definitions/address" } }, definitions: { address } },
    valid: [{ home: { city: "Paris" } }],
  },
  {
    name: "a schema that contains itself",
    schema: {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node" } },
      $defs: {
        node: {
          type: "object",
          properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
        },
      },
    },
    valid: [{ tree: { name: "a", children: [{ name: "b", children: [{ name: "c", children: [] }] }] } }],
  },
  {
    name: "a root that is itself a reference target",
    schema: { type: "object", properties: { name: { type: "string" }, child: { $ref: "#" } } },
    valid: [{ name: "a", child: { name: "b", child: { name: "c" } } }],
  },
  {
    name: "a root that is a reference",
    schema: { $ref: "#/$defs/address", $defs: { address } },
    valid: [{ city: "Paris" }, { zip: "1" }],
  },
  {
    name: "conditions at the root",
    schema: {
      type: "object",
      properties: { country: { type: "string" } },
      if: { properties: { country: { const: "US" } }, required: ["country"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { state: { type: "string", title: "State" } }, required: ["state"] },
      else: { properties: { region: { type: "string" } } },
    },
    valid: [{ country: "US", state: "NY" }, { country: "DE", region: "BE" }, { country: "US" }],
  },
  {
    name: "branches at the root, each with its own kind",
    schema: {
      type: "object",
      oneOf: [
        { properties: { kind: { const: "person" }, birth: { type: "string", format: "date" } }, required: ["kind"] },
        { properties: { kind: { const: "company" }, vat: { type: "string" } }, required: ["kind"] },
      ],
    },
    valid: [
      { kind: "person", birth: "2000-01-01" },
      { kind: "company", vat: "DE1" },
    ],
  },
  {
    name: "allOf, dependentSchemas and dependentRequired",
    schema: {
      type: "object",
      allOf: [{ properties: { a: { type: "string" } } }, { $ref: "#/$defs/more" }],
      dependentSchemas: { a: { properties: { c: { type: "integer" } } } },
      dependentRequired: { a: ["b"] },
      $defs: { more: { type: "object", properties: { b: { type: "number" } } } },
    },
    valid: [{ a: "x", b: 1, c: 2 }, { a: "x" }],
  },
  {
    name: "lists of objects, with what each item needs",
    schema: {
      type: "object",
      properties: {
        items: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            required: ["amount"],
            properties: { amount: { type: "number" }, for: { anyOf: [{ type: "string" }, { type: "null" }] } },
          },
        },
      },
    },
    valid: [
      {
        items: [
          { amount: 1, for: null },
          { amount: 2, for: "lunch" },
        ],
      },
    ],
  },
  {
    name: "values of several types, and nullable of OpenAPI",
    schema: {
      type: "object",
      properties: {
        either: { oneOf: [{ type: "string" }, { type: "object", properties: { code: { type: "integer" } } }] },
        maybe: { type: "string", nullable: true },
        map: { type: "object", additionalProperties: { type: "integer" } },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
        open: true,
        both: { type: ["object", "null"], properties: { a: { type: "string" } } },
        never: false,
        named: { type: "object", patternProperties: { "^n": { type: "number" } }, additionalProperties: false },
      },
    },
    valid: [
      { both: null, named: { n1: 1 } },
      { both: { a: "x" } },
      { either: "a", maybe: null, map: { a: 1 }, pair: ["a", 1], open: [1, { b: 2 }] },
      { either: { code: 7 } },
    ],
  },
];

describe("the schema that an agent sees", () => {
  it.each(CASES)("[MCP-FLAT] accepts what is valid, and has a plain root: $name", ({ schema, valid }) => {
    const derived = forAgents(schema);
    const validate = ajv.compile(derived);
    for (const value of valid) expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
    expect(derived.type).toBe("object");
    expect(Object.keys(derived).filter((keyword) => REFUSED_AT_THE_ROOT.includes(keyword))).toEqual([]);
    expect(keywordsIn(derived)).not.toContain("$ref");
  });

  it("[MCP-FLAT] shows the properties of every branch", () => {
    const { properties } = forAgents(CASES[6]?.schema ?? {}) as { properties: Plain };
    expect(properties).toEqual({
      kind: { enum: ["person", "company"] },
      birth: { type: "string", format: "date" },
      vat: { type: "string" },
    });
  });

  it("[MCP-FLAT] requires no field, since a write may send any part, but lists are sent whole", () => {
    const { properties } = forAgents({
      type: "object",
      required: ["home", "list"],
      properties: { home: address, list: { type: "array", items: address } },
    }) as { properties: { home: Plain; list: { items: Plain } } };
    expect(properties.home.required).toBeUndefined();
    expect(properties.list.items.required).toEqual(["city"]);
  });

  it("[MCP-FLAT] stays small, however often a schema refers to itself", () => {
    const many = Array.from({ length: 40 }, (_, index) => `f${index}`);
    const node = {
      type: "object",
      properties: Object.fromEntries(many.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    };
    const $defs = Object.fromEntries(many.map((name) => [name, node]));
    expect(JSON.stringify(forAgents({ ...node, $defs })).length).toBeLessThan(500_000);
  });

  it("[MCP-SCHEMA] keeps titles, descriptions, examples, defaults and bounds", () => {
    const field = {
      type: "string",
      title: "T",
      description: "D",
      examples: ["e"],
      default: "d",
      maxLength: 3,
      pattern: "^x",
    };
    expect(forAgents({ type: "object", properties: { field } }).properties).toEqual({ field });
  });

  it("[MCP-SCHEMA] leaves out what only a human may set, wherever it stands", () => {
    const schema = {
      type: "object",
      properties: {
        consent: { type: "boolean", "x-fill": "human" },
        signature: { $ref: "#/$defs/signature" },
        person: { type: "object", properties: { id: { type: "string", "x-fill": "human" }, name: { type: "string" } } },
        note: { type: "string", "x-fill": "agent" },
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { oath: { type: "string", "x-fill": "human" } } },
      $defs: { signature: { type: "string", "x-fill": "human" } },
    };
    expect(forAgents(schema).properties).toEqual({
      person: { type: "object", properties: { name: { type: "string" } } },
      note: { type: "string" },
    });
  });

  it("[MCP-SCHEMA] says how a file gets into its field", () => {
    const file = { title: "Scan", "x-file": { accept: ["application/pdf"], maxBytes: 10_485_760 } };
    const files = { "x-file": { accept: ["image/png"], maxBytes: 1000, maxFiles: 3 } };
    const { properties } = forAgents({ type: "object", properties: { file, files } }) as {
      properties: { file: Plain; files: Plain };
    };
    expect(properties.file).toMatchObject({ type: "object", title: "Scan", required: ["uploadId"] });
    expect(properties.file.description).toContain("application/pdf, at most 10 MB");
    expect(properties.file.description).toContain("confirming an upload fills it");
    expect(properties.files).toMatchObject({ type: "array", items: { required: ["uploadId"] } });
  });

  it("[MCP-SCHEMA] says what is sensitive, and has no keyword of ours", () => {
    const derived = forAgents({
      type: "object",
      properties: { pin: { type: "string", description: "Four digits.", "x-sensitive": true, "x-other": 1 } },
    }) as { properties: { pin: Plain } };
    expect(derived.properties.pin).toEqual({
      type: "string",
      description: expect.stringMatching(/^Four digits\. Sensitive/),
    });
  });

  it("a field may have the name of an annotation", () => {
    const named = { type: "object", properties: { "x-fill": { type: "string" }, "x-sensitive": { type: "boolean" } } };
    expect(forAgents(named)).toEqual(named);
  });
});
