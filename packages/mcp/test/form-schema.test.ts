import { expect, it } from "vitest";
import { fieldsOf } from "../form-page/schema.ts";
import type { JsonObject } from "../form-page/wire.ts";

const shape = (schema: JsonObject, hints = {}) =>
  fieldsOf(schema, hints).map(({ name, kind, label, required }) => ({ name, kind, label, required }));

it("[MCP-APP-FIELDS] every kind of schema has its control, in the schema's order", () => {
  const properties: JsonObject = {
    name: { type: "string", title: "Your name" },
    born: { type: "string", format: "date" },
    nick: { type: ["string", "null"] },
    age: { type: "integer" },
    agreed: { type: "boolean" },
    size: { type: "string", enum: ["small", "large"] },
    colour: {
      oneOf: [
        { const: "r", title: "Red" },
        { const: "g", title: "Green" },
      ],
    },
    address: { $ref: "#/$defs/address" },
    items: { type: "array", items: { type: "object", properties: { amount: { type: "number" } } } },
    paper: { "x-file": { accept: ["application/pdf"], maxBytes: 10 } },
    papers: { "x-file": { accept: ["application/pdf"], maxBytes: 10, maxFiles: 3 } },
    anything: {},
  };
  const schema: JsonObject = {
    type: "object",
    required: ["name"],
    properties,
    $defs: { address: { type: "object", properties: { city: { type: "string" } } } },
  };
  expect(shape(schema).map(({ kind }) => kind)).toEqual(
    "text text text number boolean choice choice object list file files json".split(" "),
  );
  expect(shape(schema)[0]).toEqual({ name: "name", kind: "text", label: "Your name", required: true });
  expect(shape(schema, { born: { label: "Birthday" } })[1]?.label).toBe("Birthday");
  const ordered = shape(schema, { anything: { order: 2 }, papers: { order: 1 } });
  expect(ordered.map(({ name }) => name).slice(0, 3)).toEqual(["papers", "anything", "name"]);
  const [, , , , , size, colour, address, items] = fieldsOf(schema);
  expect(size?.choices.map(({ label }) => label)).toEqual(["Small", "Large"]);
  expect(colour?.choices).toEqual([
    { label: "Red", value: "r" },
    { label: "Green", value: "g" },
  ]);
  expect(address?.members.map(({ name }) => name)).toEqual(["city"]);
  expect(items?.item?.members.map(({ name }) => name)).toEqual(["amount"]);
});

it("[MCP-APP-FIELDS] a field that only a condition speaks of is shown, and not called needed", () => {
  const schema: JsonObject = JSON.parse(`{
    "type": "object",
    "properties": { "country": { "type": "string" } },
    "allOf": [{
      "if": { "properties": { "country": { "const": "US" } } },
      "then": { "properties": { "state": { "type": "string" } }, "required": ["state"] }
    }],
    "dependentSchemas": { "country": { "properties": { "region": { "type": "string" } } } }
  }`);
  expect(
    shape(schema)
      .map(({ name, required }) => [name, required])
      .sort(),
  ).toEqual([
    ["country", false],
    ["region", false],
    ["state", false],
  ]);
  expect(shape(schema)[0]?.name).toBe("country");
  // What the condition says about a field that is there changes nothing of how it is shown.
  expect(shape(schema).find(({ name }) => name === "country")?.kind).toBe("text");
});

it("[MCP-APP-FIELDS] a schema that contains itself ends, as text that one can still edit", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { child: { $ref: "#/$defs/node" } },
    $defs: { node: { type: "object", properties: { name: { type: "string" }, child: { $ref: "#/$defs/node" } } } },
  };
  let [at] = fieldsOf(schema);
  let depth = 0;
  while (at?.kind === "object") {
    at = at.members.find(({ name }) => name === "child");
    depth++;
  }
  expect(at?.kind).toBe("json");
  expect(depth).toBeLessThan(20);
});

it("[MCP-APP-FIELDS] what only the agent may set is shown, and locked", () => {
  const [field] = fieldsOf({ type: "object", properties: { score: { type: "number", "x-fill": "agent" } } });
  expect(field).toMatchObject({ locked: true });
});
