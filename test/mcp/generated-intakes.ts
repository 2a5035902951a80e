import type { IntakeDefinition } from "@formbridge/contract";
import fc from "fast-check";

type Schema = Record<string, unknown>;

/** A schema, or `true`, and a valid value for it. */
interface Shape {
  schema: Schema | boolean;
  example: unknown;
}

export interface GeneratedIntake {
  definition: IntakeDefinition;
  /** Fields that are complete and valid. */
  example: Record<string, unknown>;
}

/** Names of all kinds, among them those of the arguments that tools have beside the fields. */
const NAMES = [
  "name",
  "amount",
  "company_name",
  "with space",
  "Größe",
  "dash-ed",
  "toString",
  "type",
  "properties",
  "$ref",
  "fields",
  "actor",
  "resumeToken",
  "idempotencyKey",
  "submissionId",
  "version",
  "verbose",
];

const described = (shape: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.tuple(shape, fc.integer({ min: 0, max: 5 })).map(([{ schema, example }, style]) => {
    if (typeof schema === "boolean" || "$ref" in schema) return { schema, example };
    const more = [
      {},
      {},
      { title: "A title" },
      { description: "What it is." },
      { examples: [example] },
      { default: example },
    ];
    return { schema: { ...schema, ...more[style] }, example };
  });

const FORMATS: Record<string, string> = {
  email: "ada@example.com",
  date: "2026-03-01",
  "date-time": "2026-03-01T12:00:00Z",
  uri: "https://example.com/a",
  uuid: "0190a2b4-0000-7000-8000-000000000000",
};

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }).map((example) => ({ schema: { type: "string", minLength: 1 }, example })),
  fc
    .constantFrom(...Object.entries(FORMATS))
    .map(([format, example]) => ({ schema: { type: "string", format }, example })),
  fc.constant({ schema: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$" }, example: "ABC-1234" }),
  fc.uniqueArray(fc.constantFrom("red", "green", "blue", "with, comma"), { minLength: 1 }).map((values) => ({
    schema: { type: "string", enum: values },
    example: values[0],
  })),
);

const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map((example) => ({ schema: { type: "integer", minimum: -5, maximum: 5 }, example })),
  fc.integer({ min: 1, max: 9 }).map((n) => ({ schema: { type: "number", exclusiveMinimum: 0 }, example: n / 2 })),
  fc.integer({ min: 1, max: 9 }).map((n) => ({ schema: { type: "integer", multipleOf: 3 }, example: n * 3 })),
);

const leaf: fc.Arbitrary<Shape> = described(
  fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 3, arbitrary: number },
    fc.boolean().map((example) => ({ schema: { type: "boolean" }, example })),
    fc.constantFrom<Shape>(
      { schema: { type: ["string", "null"] }, example: "there" },
      { schema: { const: "only this" }, example: "only this" },
      { schema: { enum: ["mixed", 7, true] }, example: 7 },
      { schema: {}, example: "anything" },
      { schema: true, example: { any: ["thing"] } },
      // In the definitions that every generated schema has.
      { schema: { $ref: "#/$defs/address" }, example: { city: "Paris", zip: "75001" } },
      { schema: { $ref: "#/$defs/tree" }, example: { label: "root", children: [{ label: "leaf", children: [] }] } },
      { schema: { type: "string", "x-sensitive": true }, example: "hush" },
    ),
  ),
);

const list = (item: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.tuple(item, fc.integer({ min: 0, max: 3 }), fc.boolean()).map(([{ schema, example }, count, isTuple]) =>
    isTuple
      ? { schema: { type: "array", prefixItems: [schema], items: { type: "string" } }, example: [example, "more"] }
      : {
          schema: { type: "array", items: schema, minItems: count, maxItems: 5 },
          example: Array.from({ length: count }, () => example),
        },
  );

const choice = (one: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.tuple(one, fc.constantFrom("anyOf", "allOf")).map(([{ schema, example }, keyword]) => ({
    schema: keyword === "anyOf" ? { anyOf: [schema, { type: "null" }] } : { allOf: [schema] },
    example,
  }));

type Member = [name: string, shape: Shape, isRequired: boolean];

function objectOf(members: readonly Member[], isClosed: boolean): Shape {
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
      required: members.filter(([, , isRequired]) => isRequired).map(([name]) => name),
      ...(isClosed && { additionalProperties: false }),
    },
    example: Object.fromEntries(members.map(([name, { example }]) => [name, example])),
  };
}

const members = (member: fc.Arbitrary<Shape>, names: readonly string[]): fc.Arbitrary<Member[]> =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), member, fc.boolean()), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 6,
  });

const { value } = fc.letrec<{ value: Shape; object: Shape }>((tie) => ({
  object: fc.tuple(members(tie("value"), NAMES), fc.boolean()).map(([all, isClosed]) => objectOf(all, isClosed)),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: tie("object") },
    { weight: 2, arbitrary: list(tie("value")) },
    { weight: 1, arbitrary: choice(tie("value")) },
  ),
}));

const DEFINITIONS = {
  address: {
    type: "object",
    properties: { city: { type: "string" }, zip: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  tree: {
    type: "object",
    properties: { label: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
  },
};

/** Keywords at the root, besides the fields. The example always has `kind: "a"`, with `because` set. */
const CONDITIONS: readonly Schema[] = [
  {},
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  { if: { properties: { kind: { const: "a" } }, required: ["kind"] }, then: { required: ["because"] } },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  { if: { properties: { kind: { const: "b" } }, required: ["kind"] }, then: { required: ["not-there"] }, else: {} },
  { dependentRequired: { kind: ["because"] } },
  { allOf: [{ required: ["kind"] }, { properties: { because: { minLength: 2 } } }] },
  {
    oneOf: [{ properties: { kind: { const: "a" } }, required: ["because"] }, { properties: { kind: { const: "b" } } }],
  },
  { anyOf: [{ required: ["kind"] }, { required: ["because"] }] },
  { not: { required: ["forbidden"] } },
  { dependentSchemas: { kind: { properties: { because: { maxLength: 100 } } } } },
];

/** Fields that an agent leaves to others. */
const OTHERS: Schema = {
  signature: { type: "string", "x-fill": "human" },
  document: { type: "object", "x-file": { accept: ["application/pdf"], maxBytes: 1000 } },
};

const schemaAndExample = fc
  .record({
    all: members(value, NAMES),
    condition: fc.constantFrom(...CONDITIONS),
    byReference: fc.boolean(),
    withOthers: fc.boolean(),
  })
  .map(({ all, condition, byReference, withOthers }) => {
    const { schema, example } = objectOf(all, false) as { schema: Schema; example: Record<string, unknown> };
    const properties = {
      ...(schema.properties as Schema),
      kind: { enum: ["a", "b"] },
      because: { type: "string" },
      ...(withOthers && OTHERS),
    };
    const whole = { ...schema, properties, ...condition };
    return {
      schema: byReference
        ? { $ref: "#/$defs/whole", $defs: { ...DEFINITIONS, whole } }
        : { ...whole, $defs: DEFINITIONS },
      example: { ...example, kind: "a", because: "it is so" },
    };
  });

/** Intakes of every kind, the same in each run. */
export function generateIntakes(count: number, seed: number): GeneratedIntake[] {
  return fc.sample(schemaAndExample, { numRuns: count, seed }).map(({ schema, example }, index) => ({
    definition: {
      id: `made-${index}`,
      version: "1",
      name: `Made ${index}`,
      access: "public",
      schema,
      destination: { kind: "store" },
    },
    example,
  }));
}
