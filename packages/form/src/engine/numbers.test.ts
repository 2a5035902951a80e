import { expect, it } from "vitest";
import { numberIn } from "./numbers.ts";

it.each([
  ["12", 12],
  [" -1.50 ", -1.5],
  ["2,5", 2.5],
  ["0,125", 0.125],
  ["1e3", 1000],
  ["9007199254740991", 9007199254740991],
  ["0.000000000000000001", 1e-18],
])("[MCP-APP-NUMBERS] %s is the number that it says", (typed, number) => {
  expect(numberIn(typed)).toBe(number);
});

it.each([
  "1,000",
  "12,345,678",
  "1,2,3",
  "1.2.3",
  "9007199254740993",
  "0.12345678901234567",
  "1e999",
  "0x10",
  "ten",
  "-",
])("[MCP-APP-NUMBERS] %s is kept as typed, not as another number", (typed) => {
  expect(numberIn(typed)).toBe(typed);
});

it("[MCP-APP-NUMBERS] an emptied field holds nothing", () => {
  expect(numberIn("  ")).toBeUndefined();
});
