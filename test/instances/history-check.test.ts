import { describe, expect, it } from "vitest";
import { type Call, checkHistory, type History } from "./history-check.ts";

type Change = Partial<Call> & { by: string };

/** A call in its own second: it began `at`, and ended half a second later. */
const call = (at: number, { by, ...change }: Change): Call => ({
  by,
  kind: "setFields",
  began: at,
  ended: at + 0.5,
  outcome: "done",
  ...change,
});
const write = (at: number, by: string, version: number, change: Partial<Call> = {}): Call =>
  call(at, { by, base: version - 1, version, fields: { value: by }, ...change });
const read = (at: number, version: number, value: string): Call =>
  call(at, { by: "reader", kind: "read", version, fields: { value } });

const chainOf = (...authors: string[]): History["chain"] => authors.map((by, index) => ({ version: index + 1, by }));

/** A create and two writes, one after the other, and a read. */
function good(): { calls: Call[]; chain: History["chain"]; end: History["end"] } {
  return {
    calls: [
      write(1, "ann", 1, { kind: "create" }),
      write(2, "bob", 2),
      write(3, "cyd", 3),
      call(4, { by: "dan", outcome: "refused", base: 2, version: 3, fields: { value: "dan" } }),
      read(5, 3, "cyd"),
    ],
    chain: chainOf("ann", "bob", "cyd"),
    end: { version: 3, fields: { value: "cyd" } },
  };
}

const faultsOf = (change: Partial<History>): string => checkHistory({ ...good(), ...change }).join("\n");
const withCalls = (...more: Call[]): Partial<History> => ({ calls: [...good().calls, ...more] });

describe("a history that one copy could have made", () => {
  it("has no fault", () => {
    expect(checkHistory(good())).toEqual([]);
  });

  it("may have writes with an unknown outcome, done or not", () => {
    const lost = { outcome: "unknown", fields: { value: "eve" } } as const;
    expect(faultsOf(withCalls(call(5.5, { by: "eve", base: 3, ...lost })))).toBe("");
    const change = withCalls(call(5.5, { by: "eve", base: 3, ...lost }), read(9, 4, "eve"));
    const chain = chainOf("ann", "bob", "cyd", "eve");
    expect(faultsOf({ ...change, chain, end: { version: 4, fields: { value: "eve" } } })).toBe("");
  });

  it("lets calls that overlap see either side", () => {
    expect(faultsOf(withCalls({ ...read(1.9, 1, "ann"), ended: 3 }, { ...read(2.9, 3, "cyd"), ended: 3.1 }))).toBe("");
  });

  it("lets a replay return what was recorded, however late", () => {
    expect(faultsOf(withCalls(write(7, "bob", 2, { outcome: "replayed" })))).toBe("");
  });
});

describe("a fault that is planted is found", () => {
  it.each<[string, string, Partial<History>]>([
    ["two writes on one version", "fork", withCalls(write(3, "eve", 3))],
    [
      "a version that is made of one before the last",
      "fork",
      { calls: good().calls.map((one) => (one.by === "cyd" ? { ...one, base: 1 } : one)) },
    ],
    [
      "a check that saw another version than its token's",
      "fork",
      withCalls(call(6, { by: "eve", kind: "validate", base: 2, version: 3 })),
    ],
    ["a version twice in the stream", "chain", { chain: [...chainOf("ann", "bob"), { version: 2, by: "cyd" }] }],
    [
      "an answered write that is not in the stream",
      "lost",
      { chain: chainOf("ann", "bob"), end: { version: 2, fields: { value: "bob" } } },
    ],
    ["an answered value that is gone in the end", "lost", { end: { version: 3, fields: { value: "bob" } } }],
    ["an end that is older than the stream", "lost", { end: { version: 2, fields: { value: "bob" } } }],
    ["a read that is older than an answer before it", "stale", withCalls(read(6, 2, "bob"))],
    ["a read that is older than a read before it", "stale", withCalls(read(5.7, 2, "bob"))],
    [
      "a refusal that tells an older version than an answer before it",
      "stale",
      withCalls(call(6, { by: "eve", outcome: "refused", base: 1, version: 2 })),
    ],
    [
      "versions out of the order of time",
      "order",
      {
        calls: [write(1, "ann", 1, { kind: "create" }), write(2, "cyd", 3), write(3, "bob", 2)],
      },
    ],
    ["an answer with another version than the stream's", "order", { chain: chainOf("ann", "cyd", "bob") }],
    ["a read of what was not yet asked for", "order", withCalls({ ...read(1.6, 2, "bob"), ended: 1.7 })],
    [
      "a write executed twice",
      "doubled",
      { chain: chainOf("ann", "bob", "cyd", "cyd"), end: { version: 4, fields: { value: "cyd" } } },
    ],
    [
      "a write that was refused, but executed",
      "refused, but executed",
      { chain: chainOf("ann", "bob", "cyd", "dan"), end: { version: 4, fields: { value: "dan" } } },
    ],
    [
      "a write that nobody asked for",
      "nobody asked",
      { chain: chainOf("ann", "bob", "cyd", "eve"), end: { version: 4, fields: { value: "cyd" } } },
    ],
    [
      "a current token that is called stale",
      "current token",
      withCalls(call(6, { by: "eve", outcome: "refused", base: 3, version: 3 })),
    ],
    ["a read of values that a version never had", "content", withCalls(read(6, 3, "bob"))],
  ])("%s: %s", (_, name, change) => {
    expect(faultsOf(change)).toContain(name);
  });
});
