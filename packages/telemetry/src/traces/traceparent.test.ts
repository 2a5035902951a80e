import { expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

it("reads what it writes", () => {
  for (const sampled of [true, false]) {
    const position = { traceId: TRACE, spanId: SPAN, sampled };
    expect(parseTraceparent(formatTraceparent(position))).toEqual(position);
  }
});

it("accepts a later version with more parts", () => {
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-03-more`)).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true });
});

it.each([
  undefined,
  "",
  "nonsense",
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-01\n`,
  `00-${TRACE}-${SPAN}`,
])("ignores %j", (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});
