import { describe, expect, it } from "vitest";
import { guideOf } from "./guide.ts";

const guide = guideOf({
  type: "object",
  required: ["zeta", "alpha"],
  properties: {
    zeta: { type: "string", title: "Zeta", format: "email" },
    address: { $ref: "#/$defs/address" },
    items: { type: "array", items: { type: "object", properties: { amount: { type: "number", title: "Amount" } } } },
    alpha: { type: "string", "x-fill": "human", enum: ["a", "b"] },
    scan: { title: "Scan", "x-file": { accept: ["application/pdf"], maxBytes: 10 } },
  },
  $defs: { address: { type: "object", properties: { city: { type: ["string", "null"], description: "Town." } } } },
});

describe("a guide to the fields", () => {
  it("[MCP-SHORT] puts paths in the order of the schema, unknown ones last", () => {
    const paths = ["nowhere", "alpha", "items.10.amount", "address.city", "items.2.amount", "zeta"];
    expect(guide.order(paths)).toEqual([
      "zeta",
      "address.city",
      "items.10.amount",
      "items.2.amount",
      "alpha",
      "nowhere",
    ]);
  });

  it("[MCP-SHORT] describes a field as a model needs it", () => {
    expect(guide.describe("zeta")).toEqual({ path: "zeta", type: "string", title: "Zeta", format: "email" });
    expect(guide.describe("address.city")).toEqual({
      path: "address.city",
      type: "string or null",
      description: "Town.",
    });
    expect(guide.describe("items.3.amount")).toEqual({ path: "items.3.amount", type: "number", title: "Amount" });
    expect(guide.describe("alpha")).toEqual({ path: "alpha", type: "string", enum: ["a", "b"], fill: "human" });
    expect(guide.describe("scan")).toEqual({ path: "scan", type: "file", title: "Scan", file: true });
    expect(guide.describe("nowhere")).toEqual({ path: "nowhere" });
  });

  it("[MCP-SHORT] tells a property whose name is a number from the item of a list", () => {
    const one = { type: "string", title: "One", "x-sensitive": true };
    const years = { type: "object", properties: { "1": one } };
    const numbered = guideOf({ type: "object", properties: { years, list: { type: "array", items: years } } });
    for (const path of ["years.1", "list.0.1"]) {
      expect(numbered.describe(path)).toMatchObject({ path, title: "One" });
      expect(numbered.isSensitive(path)).toBe(true);
    }
    expect(numbered.knows("years.2")).toBe(false);
  });
});
