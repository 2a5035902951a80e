import { expect, it } from "vitest";
import { createBreaker } from "./breaker.ts";

function failing(times: number) {
  let at = 0;
  const breaker = createBreaker(() => at);
  for (let failure = 0; failure < times; failure += 1) breaker.failed();
  const advance = (ms: number) => {
    at += ms;
  };
  return { breaker, advance };
}

it("allows everything until five calls in a row have failed", () => {
  const { breaker } = failing(4);
  expect(breaker.admits()).toBe(true);
  breaker.succeeded();
  breaker.failed();
  expect(breaker.admits()).toBe(true);
});

it("asks for another way after every fifth failure in a row", () => {
  const { breaker } = failing(4);
  expect([1, 2, 3, 4, 5, 6].map(() => breaker.failed())).toEqual([true, false, false, false, false, true]);
});

it("allows one call a second as a trial, and closes on the first success", () => {
  const { breaker, advance } = failing(5);
  expect(breaker.admits()).toBe(false);
  advance(1_000);
  expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  breaker.failed();
  expect(breaker.admits()).toBe(false);
  advance(1_000);
  expect(breaker.admits()).toBe(true);
  breaker.succeeded();
  expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
});
