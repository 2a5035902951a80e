import { expect, it } from "vitest";
import { labelOf } from "../src/shared/labels.ts";

const intake = {
  schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name" },
      address: { $ref: "#/$defs/address" },
      lines: { type: "array", title: "Line", items: { type: "object", properties: { amount: { title: "Amount" } } } },
      pair: { type: "array", title: "Pair", prefixItems: [{ title: "From" }, { title: "To" }] },
      years: { type: "object", title: "Years", properties: { "2024": { title: "Last year" } } },
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    allOf: [{ if: {}, then: { properties: { reason: { title: "Reason" } } } }],
    $defs: { address: { type: "object", title: "Address", properties: { city: { title: "City" } } } },
  },
  uiHints: { fieldHints: { "address.city": { label: "Town" } } },
};

it.each([
  ["name", "Name"],
  ["address", "Address"],
  ["address.city", "Address › Town"],
  ["lines.0.amount", "Line 1 › Amount"],
  ["pair.1", "Pair 2"],
  ["years.2024", "Years › Last year"],
  ["reason", "Reason"],
  ["unknown.toString", "unknown › toString"],
])("[PAGES-CHECK] %s is called %s", (path, label) => {
  expect(labelOf(intake, path)).toBe(label);
});
