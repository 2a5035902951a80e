import { expect, it, vi } from "vitest";
import type { Measure } from "../../ports/instrumentation.ts";
import type { Deps } from "../deps.ts";
import { inLookupTime } from "./lookup-time.ts";

const MS = 20;

function waiting(): { deps: Deps; measures: Measure[] } {
  const measures: Measure[] = [];
  const instrumentation = { record: (measure: Measure) => void measures.push(measure) };
  return { deps: { settings: { tokenLookupMs: MS }, instrumentation } as unknown as Deps, measures };
}

it("[OBSERVE-LOOKUP-TIME] gives up a look-up that takes too long, and counts it", async () => {
  const { deps, measures } = waiting();
  const never = new Promise<string>(() => {});
  const refusal = { type: "service_unavailable", detail: { retryAfterMs: 1000 } };
  await expect(inLookupTime(deps, never)).rejects.toMatchObject(refusal);
  expect(measures).toEqual([{ name: "lookup_timeout" }]);
});

it("[OBSERVE-LOOKUP-TIME] returns what came in time, or why it failed, and counts nothing", async () => {
  vi.useFakeTimers();
  try {
    const { deps, measures } = waiting();
    expect(await inLookupTime(deps, Promise.resolve("found"))).toBe("found");
    await expect(inLookupTime(deps, Promise.reject(new Error("the store is down")))).rejects.toThrow(
      "the store is down",
    );
    await vi.advanceTimersByTimeAsync(2 * MS);
    expect(measures).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
