import fc from "fast-check";

type Schema = Record<string, unknown>;

/** A schema, and a value that a person can type into its field. */
interface Shape {
  schema: Schema;
  example: unknown;
}

export interface GeneratedForm {
  schema: Schema;
  /** What is typed, and nothing else: some fields are left alone. */
  typed: Record<string, unknown>;
}

const WORDS = ["red", "green", "blue", "with, comma", "<b>bold</b>", "größer", "7", "a very long label of a choice"];
const MANY = Array.from({ length: 40 }, (_, index) => `Choice ${index + 1}.`);

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text);

const shape = (schema: Schema, example: unknown): fc.Arbitrary<Shape> => fc.constant({ schema, example });

const texts = fc.oneof(
  words.map((example) => ({ schema: { type: "string" }, example })),
  words.map((example) => ({ schema: { type: "string", maxLength: 1000 }, example })),
  words.map((example) => ({ schema: { type: ["string", "null"] }, example })),
  words.map((example) => ({ schema: { anyOf: [{ type: "string" }, { type: "null" }] }, example })),
  words.map((example) => ({ schema: { type: "string", "x-sensitive": true }, example })),
  words.map((example) => ({ schema: {}, example })),
  shape({ type: "string", format: "email", maxLength: 320 }, "ada@example.com"),
  shape({ type: "string", format: "uri", maxLength: 2000 }, "https://example.com/a?b=1"),
  shape({ type: "string", format: "date" }, "2026-03-01"),
  shape({ type: "string", format: "time" }, "12:30:00+00:00"),
  shape({ type: "string", format: "date-time" }, "2026-03-01T12:30:00.000Z"),
  shape({ type: "string", pattern: "^[A-Z]{3}$" }, "ABC"),
);

const numbers = fc.oneof(
  fc.integer({ min: -500, max: 500 }).map((example) => ({ schema: { type: "integer" }, example })),
  fc.integer({ min: 1, max: 999 }).map((n) => ({ schema: { type: "number", minimum: 0 }, example: n / 4 })),
  fc.integer({ min: 1, max: 9 }).map((example) => ({ schema: { type: ["integer", "null"] }, example })),
);

const choices = fc.oneof(
  fc.boolean().map((example) => ({ schema: { type: "boolean" }, example })),
  shape({ type: "boolean", const: true }, true),
  shape({ const: "only this" }, "only this"),
  shape({ enum: ["mixed", 7, null] }, 7),
  fc
    .uniqueArray(fc.constantFrom(...WORDS), { minLength: 1 })
    .map((values) => ({ schema: { type: "string", enum: values }, example: values.at(-1) })),
  fc.constantFrom(...MANY).map((example) => ({ schema: { enum: MANY }, example })),
  shape({ type: "array", uniqueItems: true, items: { enum: ["a", "b", "c"] } }, ["a", "c"]),
  fc
    .uniqueArray(fc.nat({ max: MANY.length - 1 }), { minLength: 1, maxLength: 3 })
    .map((picked) => picked.toSorted((one, other) => one - other).map((index) => MANY[index]))
    .map((example) => ({ schema: { type: "array", uniqueItems: true, items: { enum: MANY } }, example })),
);

const known = fc.oneof(
  shape({ $ref: "#/$defs/address" }, { city: "Paris", zip: "75001" }),
  shape({ $ref: "#/$defs/tree" }, { label: "root", child: { label: "leaf" } }),
  shape({ $ref: "#/$defs/tree" }, { label: "root", children: [{ label: "one" }, { label: "two" }] }),
  shape({ type: "object", additionalProperties: { type: "integer" } }, { first: 1, second: 2 }),
  shape({ type: "object" }, { anything: "goes" }),
);

const leaf = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 2, arbitrary: numbers },
  { weight: 3, arbitrary: choices },
  { weight: 1, arbitrary: known },
);

/** Decoration that must not change what is stored. */
const decorated = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc
    .tuple(
      inner,
      fc.constantFrom<Schema>({}, { title: "<i>Title</i>" }, { description: "What it is." }, { default: "not this" }),
    )
    .map(([{ schema, example }, more]) => ({ schema: "$ref" in schema ? schema : { ...schema, ...more }, example }));

/** An item of a list is typed: JSON has no list with a hole in it. */
const filled = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  inner.map((made) => (pruned(made.example) === undefined ? { schema: { type: "string" }, example: "typed" } : made));

const listOf = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.tuple(filled(inner), fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([{ schema, example }, count, isTuple]) =>
    isTuple
      ? {
          schema: { type: "array", prefixItems: [schema, { type: "integer" }], items: false },
          example: [example, 12],
        }
      : {
          schema: { type: "array", items: schema, minItems: 1 },
          example: Array.from({ length: count }, () => example),
        },
  );

const variantsOf = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.tuple(inner, fc.constantFrom("oneOf", "anyOf")).map(([{ schema, example }, keyword]) => ({
    schema: {
      [keyword]: ["Card", "Bank"].map((kind) => ({
        type: "object",
        title: kind,
        properties: { kind: { const: kind }, [`of ${kind}`]: schema, note: { type: "string" } },
        required: ["kind", `of ${kind}`],
      })),
    },
    example: { kind: "Bank", "of Bank": example },
  }));

const NAMES = ["name", "company_name", "with space", "Größe", "dash-ed", "toString", "type", "properties", "valueOf"];

const groupOf = (inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), inner, fc.boolean(), fc.boolean()), {
      selector: ([name]) => name,
      minLength: 1,
      maxLength: 5,
    })
    .map((members) => ({
      schema: {
        type: "object",
        properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
        required: members.filter(([, , isRequired]) => isRequired).map(([name]) => name),
      },
      example: Object.fromEntries(members.filter((member) => member[3]).map(([name, { example }]) => [name, example])),
    }));

const { root } = fc.letrec<{ value: Shape; root: Shape }>((tie) => ({
  value: decorated(
    fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 5, arbitrary: leaf },
      { weight: 2, arbitrary: groupOf(tie("value")) },
      { weight: 2, arbitrary: listOf(tie("value")) },
      { weight: 1, arbitrary: variantsOf(tie("value")) },
    ),
  ),
  root: groupOf(tie("value")),
}));

const DEFINITIONS: Schema = {
  address: {
    type: "object",
    properties: { city: { type: "string" }, zip: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  tree: {
    type: "object",
    properties: {
      label: { type: "string" },
      child: { $ref: "#/$defs/tree" },
      children: { type: "array", items: { $ref: "#/$defs/tree" } },
    },
  },
};

const more = { properties: { because: { type: "string" } }, required: ["because"] };
const isA = { properties: { choice: { const: "a" } }, required: ["choice"] };

/** Fields that are shown when another one has been answered. `choice` is "a", and `because` is typed after it. */
const CONDITIONS: readonly Schema[] = [
  {},
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  { if: isA, then: more, else: { properties: { otherwise: { type: "string" } } } },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  { allOf: [{ if: isA, then: more }] },
  { dependentSchemas: { choice: more } },
  {
    oneOf: [
      { properties: { choice: { const: "a" }, because: { type: "string" } }, required: ["because"] },
      { properties: { choice: { const: "b" }, amount: { type: "integer" } } },
    ],
  },
];

const form: fc.Arbitrary<GeneratedForm> = fc
  .record({ shape: root, condition: fc.constantFrom(...CONDITIONS), byReference: fc.boolean() })
  .map(({ shape: { schema, example }, condition, byReference }) => {
    const isAsked = Object.keys(condition).length > 0;
    const properties = { ...(schema.properties as Schema), ...(isAsked && { choice: { enum: ["a", "b"] } }) };
    const whole = { ...schema, properties, ...condition };
    return {
      schema: byReference
        ? { $ref: "#/$defs/whole", $defs: { ...DEFINITIONS, whole } }
        : { ...whole, $defs: DEFINITIONS },
      typed: { ...(pruned(example) as Schema), ...(isAsked && { choice: "a", because: "it is so" }) },
    };
  });

/** An object in which nothing is typed is not stored. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, pruned(member)] as const);
  const typed = members.filter(([, member]) => member !== undefined);
  return typed.length === 0 ? undefined : Object.fromEntries(typed);
}

/** Forms of every kind, the same in each run. */
export const generateForms = (count: number, seed: number): GeneratedForm[] =>
  fc.sample(form, { numRuns: count, seed });
