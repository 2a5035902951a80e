import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { create, expectError, filled, submit } from "../support/submissions.ts";

let server: TestServer;

const text = { type: "string" };
const number = { type: "number" };
const file = { "x-file": { accept: ["application/pdf"], maxBytes: 1000 } };

beforeAll(async () => {
  server = await startTestServer();
  await server.putIntake({
    id: "codes",
    schema: {
      type: "object",
      properties: {
        kind: { enum: ["a", "b"] },
        fixed: { const: 1 },
        count: { type: "integer", minimum: 1, maximum: 9 },
        step: { type: "number", multipleOf: 5 },
        code: { type: "string", pattern: "^[A-Z]+$" },
        email: { type: "string", format: "email" },
        day: { type: "string", format: "date" },
        short: { type: "string", maxLength: 3 },
        long: { type: "string", minLength: 3 },
        few: { type: "array", maxItems: 1 },
        many: { type: "array", minItems: 2 },
        unique: { type: "array", uniqueItems: true },
        nested: { type: "object", properties: { list: { type: "array", items: number } } },
        must: text,
        attachment: file,
      },
      required: ["must", "attachment"],
    },
  });
});
afterAll(() => server.stop());

async function findings(
  intakeId: string,
  fields: Record<string, unknown>,
): Promise<{ missing: string[]; errors: Loose[] }> {
  const made = await create(server, intakeId, { fields: { probe: 1, ...fields } });
  return { missing: [...made.missingFields].sort(), errors: made.validationErrors };
}

describe("field errors", () => {
  const cases: [Record<string, unknown>, string, string][] = [
    [{ count: "one" }, "count", "invalid_type"],
    [{ count: 1.5 }, "count", "invalid_type"],
    [{ nested: { list: [1, "x"] } }, "nested.list.1", "invalid_type"],
    [{ email: "nobody" }, "email", "invalid_format"],
    [{ day: "yesterday" }, "day", "invalid_format"],
    [{ kind: "c" }, "kind", "invalid_value"],
    [{ fixed: 2 }, "fixed", "invalid_value"],
    [{ count: 0 }, "count", "invalid_value"],
    [{ count: 10 }, "count", "invalid_value"],
    [{ code: "abc" }, "code", "invalid_value"],
    [{ unique: [1, 1] }, "unique", "invalid_value"],
    [{ short: "abcd" }, "short", "too_long"],
    [{ few: [1, 2] }, "few", "too_long"],
    [{ long: "ab" }, "long", "too_short"],
    [{ many: [1] }, "many", "too_short"],
  ];

  it.each(cases)("[FIELDS-ERROR-CODES] [FIELDS-ERROR-PLACE] %j is at %s: %s", async (fields, path, code) => {
    const { errors } = await findings("codes", fields);
    const found = errors.filter((error) => error.path === path);
    expect(found).toHaveLength(1);
    expect(found[0].code).toBe(code);
    expect(found[0].message.length).toBeGreaterThan(0);
    expect(found[0].expected).toBeDefined();
    const received = path.split(".").reduce((value: Loose, segment) => value[segment], fields);
    expect(found[0].received).toEqual(received);
  });

  it("[FIELDS-ERROR-CODES] what is absent is required, and an absent file file_required", async () => {
    const { errors } = await findings("codes", {});
    const codes = Object.fromEntries(errors.map(({ path, code }) => [path, code]));
    expect(codes).toEqual({ must: "required", attachment: "file_required" });
    for (const error of errors) expect(error.received).toBeNull();
  });

  it("[FIELDS-ERRORS-INCLUDE-MISSING] validationErrors lists the missing ones too, in every response", async () => {
    const made = await create(server, "codes", { fields: { count: 0 } });
    const set = await filled(server, made.resumeToken, { kind: "c" });
    const checked = (await server.call("POST", `/resume/${set.resumeToken}/validate`)).body;
    const read = (await server.call("GET", `/resume/${set.resumeToken}`)).body;
    for (const answer of [set, checked, read]) {
      expect([...answer.missingFields].sort()).toEqual(["attachment", "must"]);
      expect(answer.validationErrors.map((error: Loose) => error.path).sort()).toEqual([
        "attachment",
        "count",
        "kind",
        "must",
      ]);
    }
    const { error } = (await submit(server, set.resumeToken)).body;
    expect(error.fields.map((field: Loose) => field.path).sort()).toEqual(["attachment", "count", "kind", "must"]);
  });
});

describe("missing fields", () => {
  const address = { type: "object", properties: { city: text, zip: text }, required: ["city", "zip"] };
  const items = { type: "array", items: { type: "object", properties: { amount: number }, required: ["amount"] } };

  it("[FIELDS-MISSING-PATHS] an absent object is named once, a present one by its members, items by index", async () => {
    await server.putIntake({
      id: "nested",
      schema: { type: "object", properties: { address, items }, required: ["address"] },
    });
    expect((await findings("nested", {})).missing).toEqual(["address"]);
    expect((await findings("nested", { address: { zip: "1" } })).missing).toEqual(["address.city"]);
    const partly = { address: { city: "x", zip: "1" }, items: [{ amount: 1 }, {}] };
    expect((await findings("nested", partly)).missing).toEqual(["items.1.amount"]);
  });

  it("[FIELDS-MISSING-CONDITIONAL] a condition makes a field missing while it holds", async () => {
    const schema = {
      type: "object",
      properties: { country: text, taxId: text, card: text, owner: text },
      if: { properties: { country: { const: "US" } }, required: ["country"] },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
      then: { required: ["taxId"] },
      dependentRequired: { card: ["owner"] },
    };
    await server.putIntake({ id: "conditional", schema });
    expect((await findings("conditional", {})).missing).toEqual([]);
    expect((await findings("conditional", { country: "CH" })).missing).toEqual([]);
    expect((await findings("conditional", { country: "US", card: "1" })).missing).toEqual(["owner", "taxId"]);
    const made = await create(server, "conditional", { fields: { country: "US" } });
    expectError(await submit(server, made.resumeToken), 422, "missing");
    const set = await filled(server, made.resumeToken, { country: "CH" });
    expect((await submit(server, set.resumeToken)).body.state).toBe("finalized");
  });
});

describe("schemas", () => {
  const dialects: [string, Record<string, unknown>][] = [
    [
      "2020-12",
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: { word: text },
        properties: { a: { $ref: "#/$defs/word" } },
      },
    ],
    [
      "draft-07",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { word: text },
        properties: { a: { $ref: "#/definitions/word" } },
      },
    ],
  ];

  it.each(dialects)(
    "[FIELDS-SCHEMA-DIALECTS] %s is read, with references inside the document",
    async (name, schema) => {
      const id = `dialect-${name.toLowerCase()}`;
      expect((await server.putIntake({ id, schema: { type: "object", ...schema } })).status).toBe(201);
      expect((await findings(id, { a: 1 })).errors).toMatchObject([{ path: "a", code: "invalid_type" }]);
      expect((await findings(id, { a: "x" })).errors).toEqual([]);
    },
  );

  const refused: [string, Record<string, unknown>, string][] = [
    ["does not compile", { properties: { a: { type: "strin" } } }, "schema.properties.a"],
    ["is no rule at all", { properties: { a: { minimum: "1" } } }, "schema.properties.a"],
    ["refers outside", { properties: { a: { $ref: "https://example.com/s.json" } } }, "schema.properties.a"],
    ["refers to nothing", { properties: { a: { $ref: "#/$defs/none" } } }, "schema.properties.a"],
    ["has a catastrophic pattern", { properties: { a: { pattern: "^(a+)+$" } } }, "schema.properties.a"],
    [
      "has one deep inside",
      { properties: { b: { items: { patternProperties: { "(x*)*y": {} } } } } },
      "schema.properties.b",
    ],
    ["has a wrong file rule", { properties: { a: { "x-file": { accept: [] } } } }, "schema.properties.a"],
    ["has a wrong fill rule", { properties: { a: { "x-fill": "robot" } } }, "schema.properties.a"],
  ];

  it.each(refused)(
    "[FIELDS-SCHEMA-REFUSED] one that %s is refused with the location of the problem",
    async (_why, schema, place) => {
      const reply = await server.putIntake({ id: "refused", schema: { type: "object", ...schema } });
      const error = expectError(reply, 422, "invalid");
      expect(error.fields[0].path.startsWith(place)).toBe(true);
      expect((await server.call("GET", "/intakes/refused", { key: server.adminKey })).status).toBe(404);
    },
  );
});
