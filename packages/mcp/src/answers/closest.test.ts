import { expect, it } from "vitest";
import { closestNames } from "./closest.ts";

const FIELDS = ["legal_name", "trading_name", "country", "tax_id", "contact.email", "contact.name"];

it.each([
  ["legalName", ["legal_name"]],
  ["legal_nmae", ["legal_name"]],
  ["taxid", ["tax_id"]],
  ["email", ["contact.email"]],
  ["counrty", ["country"]],
  ["nope", []],
])("[AUDIT-P3] %s is corrected to %s", (name, expected) => {
  expect(closestNames(name, FIELDS).slice(0, 1)).toEqual(expected);
});

it("an argument that contains another's name is corrected to it", () => {
  expect(closestNames("fields", ["initialFields", "ttlMs"])).toEqual(["initialFields"]);
});
