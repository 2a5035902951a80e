import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ContractError } from "../error.ts";
import { checkDefinition } from "./check-definition.ts";
import { compileIntake } from "./compile-intake.ts";
import { patternProblem } from "./pattern-safety.ts";

const base = { id: "t", version: "1", name: "T", destination: { kind: "store" } };
const withSchema = (schema: unknown) => ({ ...base, schema });
const withField = (field: unknown, more = {}) => withSchema({ type: "object", properties: { f: field }, ...more });

function problemsOf(value: unknown, limits?: { maxFields?: number }): string[] {
  try {
    checkDefinition(value, limits);
    return [];
  } catch (error) {
    if (!(error instanceof ContractError) || error.type !== "invalid") throw error;
    return (error.detail.fields ?? []).map(({ path }) => path);
  }
}

const examples = new URL("../../../../../examples/intakes/", import.meta.url);
describe("the example intakes", () => {
  const names = readdirSync(examples).filter((name) => name.endsWith(".json"));
  it("exist", () => expect(names.length).toBeGreaterThanOrEqual(5));
  it.each(names)("%s passes and compiles", (name) => {
    const definition = checkDefinition(JSON.parse(readFileSync(new URL(name, examples), "utf8")));
    expect(`${definition.id}.json`).toBe(name);
    expect(compileIntake(definition).validate({}).missing).not.toEqual([]);
  });
});

describe("a definition is refused with the location of the problem", () => {
  it.each([
    ["a shape that is none", { ...base, schema: { type: "object" }, id: "Not An Id", extra: 1 }, ["extra", "id"]],
    ["something else altogether", 5, [""]],
    ["a root that is no object", withSchema({ type: "array" }), ["schema.type"]],
    ["a type that there is not", withField({ type: "strng" }), ["schema.properties.f.type"]],
    ["an unknown keyword", withField({ minimun: 1 }), ["schema.properties.f.minimun"]],
    ["a keyword of the validator", withField({ $async: true }), ["schema.properties.f.$async"]],
    ["an unknown format", withField({ format: "emial" }), ["schema.properties.f.format"]],
    ["an unknown dialect", withSchema({ $schema: "http://json-schema.org/draft-04/schema#" }), ["schema.$schema"]],
    ["a remote reference", withField({ $ref: "https://x.test/a.json" }), ["schema.properties.f.$ref"]],
    ["a reference to a file", withField({ $ref: "other.json#/a" }), ["schema.properties.f.$ref"]],
    ["a dangling reference", withField({ $ref: "#/$defs/no" }), ["schema.properties.f.$ref"]],
    ["a nested $id", withField({ $id: "https://x.test/" }), ["schema.properties.f.$id"]],
    ["a catastrophic pattern", withField({ pattern: "^(a+)+$" }), ["schema.properties.f.pattern"]],
    [
      "a catastrophic pattern of names",
      withSchema({ type: "object", patternProperties: { "^(a|a)*$": {} } }),
      ["schema.patternProperties.^(a|a)*$"],
    ],
    ["a broken pattern", withField({ pattern: "[" }), ["schema.properties.f.pattern"]],
    ["a reserved name", JSON.parse('{"schema":{"properties":{"__proto__":{}}}}'), ["schema.properties.__proto__"]],
    [
      "a reserved name that is required",
      withField(
        { dependentRequired: { a: ["b", "prototype"] } },
        { required: ["f", "__proto__"], allOf: [{ required: ["constructor"] }] },
      ),
      ["schema.allOf.0.required.0", "schema.properties.f.dependentRequired.a.1", "schema.required.1"],
    ],
    ["a malformed x-file", withField({ "x-file": { accept: [], maxBytes: 1 } }), ["schema.properties.f.x-file.accept"]],
    [
      "[AUDIT-F38] an extension in place of a MIME type",
      withField({ "x-file": { accept: [".pdf", "image/*", "pdf"], maxBytes: 1 } }),
      ["schema.properties.f.x-file.accept.0", "schema.properties.f.x-file.accept.2"],
    ],
    ["a malformed x-fill", withField({ "x-fill": "robot" }), ["schema.properties.f.x-fill"]],
    ["a malformed x-sensitive", withField({ "x-sensitive": "yes" }), ["schema.properties.f.x-sensitive"]],
    [
      "a step with a field that there is not",
      { ...withField({}), uiHints: { steps: [{ id: "s", title: "S", fields: ["f", "g"] }] } },
      ["uiHints.steps.0.fields.1"],
    ],
    [
      "two steps of one id",
      {
        ...withField({}),
        uiHints: {
          steps: [
            { id: "s", title: "S", fields: ["f"] },
            { id: "s", title: "T", fields: [] },
          ],
        },
      },
      ["uiHints.steps.1.id"],
    ],
    [
      "times beyond every calendar",
      {
        ...withField({}),
        ttlMs: 1e16,
        retention: { deleteAfterMs: 1e16 },
        destination: {
          kind: "webhook",
          url: "https://x.test/",
          retryPolicy: { initialDelayMs: 1e16, maxDelayMs: 1e17 },
        },
      },
      [
        "destination.retryPolicy.initialDelayMs",
        "destination.retryPolicy.maxDelayMs",
        "retention.deleteAfterMs",
        "ttlMs",
      ],
    ],
    ["a webhook without url", { ...withField({}), destination: { kind: "webhook" } }, ["destination.url"]],
    [
      "a webhook to a file",
      { ...withField({}), destination: { kind: "webhook", url: "file:///x" } },
      ["destination.url"],
    ],
    [
      "a queue over http",
      { ...withField({}), destination: { kind: "queue", url: "http://x", name: "q" } },
      ["destination.url"],
    ],
    [
      "a queue without name",
      { ...withField({}), destination: { kind: "queue", url: "amqp://x" } },
      ["destination.name"],
    ],
    [
      "a header that is ours",
      { ...withField({}), destination: { kind: "webhook", url: "https://x", headers: { "Webhook-Id": "1" } } },
      ["destination.headers.Webhook-Id"],
    ],
    ["a callback without name", { ...withField({}), destination: { kind: "callback" } }, ["destination.name"]],
    [
      "two gates of one name",
      {
        ...withField({}),
        approvalGates: [
          { name: "g", reviewers: {} },
          { name: "g", reviewers: {} },
        ],
      },
      ["approvalGates.1.name"],
    ],
    [
      "reviewers of only blanks",
      {
        ...withField({}),
        approvalGates: [
          {
            name: "g",
            reviewers: { ids: ["ada", " "], roles: ["\u200b"], escalateTo: { ids: [""] } },
            escalateAfterMs: 1000,
          },
        ],
      },
      [
        "approvalGates.0.reviewers.escalateTo.ids.0",
        "approvalGates.0.reviewers.ids.1",
        "approvalGates.0.reviewers.roles.0",
      ],
    ],
    [
      "a rule with an unknown operator",
      { ...withField({}), approvalGates: [{ name: "g", reviewers: {}, autoApproveIf: { and: [{ eval: "1" }] } }] },
      ["approvalGates.0.autoApproveIf.and.0.eval"],
    ],
    [
      "a rule with a loop inside a loop",
      {
        ...withField({}),
        approvalGates: [
          { name: "g", reviewers: {}, autoApproveIf: { some: [{ filter: [[1], true] }, { map: [[1], 1] }] } },
        ],
      },
      ["approvalGates.0.autoApproveIf.some.1.map"],
    ],
  ])("%s", (_, value, paths) => {
    expect(problemsOf(value).sort()).toEqual(paths);
  });

  it("several problems are all listed", () => {
    const several = { ...withField({ pattern: "(x+x+)+y", format: "no" }), destination: { kind: "webhook" } };
    expect(problemsOf(several).sort()).toEqual([
      "destination.url",
      "schema.properties.f.format",
      "schema.properties.f.pattern",
    ]);
  });

  it("a circle of references, and no recursion through values", () => {
    const circle = { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } };
    expect(problemsOf(withField({ $ref: "#/$defs/a" }, { $defs: circle }))).not.toEqual([]);
    expect(problemsOf(withField({ type: "array", items: { $ref: "#" } }))).toEqual([]);
  });

  it("too many fields, and too deep a schema", () => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`f${i}`, {}]));
    expect(problemsOf(withSchema({ type: "object", properties: many }))).toEqual(["schema"]);
    expect(problemsOf(withSchema({ type: "object", properties: many }), { maxFields: 501 })).toEqual([]);
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100_000; i++) deep = { not: deep };
    expect(problemsOf(withField(deep))).toHaveLength(1);
  });
});

it("a root $id, its own absolute references and anchors stay inside the document", () => {
  const schema = {
    $id: "https://x.test/v.json",
    type: "object",
    properties: { a: { $ref: "https://x.test/v.json#/$defs/t" }, b: { $ref: "#text" } },
    $defs: { t: { $anchor: "text", type: "string" } },
  };
  const definition = checkDefinition(withSchema(schema));
  expect(
    compileIntake(definition)
      .validate({ a: 1, b: 2 })
      .errors.map(({ path }) => path),
  ).toEqual(["a", "b"]);
});

it("draft-07 is read", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    definitions: { t: { type: "string" } },
    properties: { l: { type: "array", items: [{ $ref: "#/definitions/t" }], additionalItems: false } },
  };
  expect(compileIntake(checkDefinition(withSchema(schema))).validate({ l: [1] }).errors[0]?.path).toBe("l.0");
});

it("ordinary patterns are safe, and quick to check", () => {
  const everyday = [
    "^[A-Z]{2}$",
    "^\\p{L}[\\p{L} '-]{0,80}$",
    "^\\+?[1-9]\\d{1,14}$",
    "^\\d{5}(-\\d{4})?$",
    "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  ];
  patternProblem("^(a|b)+c$");
  for (const source of everyday) {
    const start = performance.now();
    expect(patternProblem(source), source).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(1000);
  }
  for (const source of ["^(\\w+\\s?)*$", "^(a?){30}a{30}$", "\\s+$", "^a*a*$"])
    expect(patternProblem(source), source).toBeDefined();
});

it("any JSON is either a definition or refused as invalid", () => {
  const schema = fc.dictionary(
    fc.constantFrom(
      "type",
      "properties",
      "items",
      "$ref",
      "anyOf",
      "pattern",
      "x-file",
      "required",
      "if",
      "then",
      "enum",
    ),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("object", "#", "#/properties/a", "^a+$", ["a"], { a: { type: "string" } }),
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        schema.map((inner) => withSchema({ type: "object", properties: { a: inner } })),
      ),
      (value) => {
        problemsOf(value);
      },
    ),
    { numRuns: 300 },
  );
});
