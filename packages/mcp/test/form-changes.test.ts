import fc from "fast-check";
import { expect, it } from "vitest";
import { patchOf, rebase, setAt, valueAt } from "../form-page/changes.ts";
import type { JsonObject } from "../form-page/wire.ts";

/** RFC 7396, as the server applies it. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}

const name = fc.constantFrom("a", "b", "c", "d");
const { form } = fc.letrec<{ form: JsonObject; value: never }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
    tie("form"),
  ) as never,
  form: fc.dictionary(name, tie("value"), { noNullPrototype: true, maxKeys: 3 }),
}));

it("[MCP-APP-FIELDS] what the form sends turns the values that are there into those that are shown", () => {
  fc.assert(
    fc.property(form, form, (from, to) => {
      expect(merge(from, patchOf(from, to))).toEqual(to);
      expect(patchOf(to, to)).toEqual({});
    }),
  );
});

it("[MCP-APP-CONFLICT] what was typed stays on top of what others wrote, and nothing else does", () => {
  fc.assert(
    fc.property(form, form, form, (base, mine, theirs) => {
      expect(rebase(base, base, theirs)).toEqual(theirs);
      expect(rebase(base, mine, base)).toEqual(mine);
    }),
  );
  const base = { name: "Ada", address: { city: "Paris", zip: "1" } };
  const mine = { name: "Ada L.", address: { city: "Paris", zip: "2" } };
  const theirs = { name: "Ada", address: { city: "Rome", zip: "1" }, note: "new" };
  expect(rebase(base, mine, theirs)).toEqual({ name: "Ada L.", address: { city: "Rome", zip: "2" }, note: "new" });
});

it("[MCP-APP-UPLOAD] a file is sent as its upload's id, alone and inside of lists", () => {
  const file = { uploadId: "upl_1", filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 1, sha256: "00" };
  expect(patchOf({}, { w9: file, papers: [file, file] })).toEqual({
    w9: { uploadId: "upl_1" },
    papers: [{ uploadId: "upl_1" }, { uploadId: "upl_1" }],
  });
});

it("[MCP-APP-FIELDS] a value is set, found and taken away at its path, with objects and lists on the way", () => {
  const values: JsonObject = {};
  setAt(values, ["items", 0, "amount"], 3);
  setAt(values, ["address", "city"], "Paris");
  expect(values).toEqual({ items: [{ amount: 3 }], address: { city: "Paris" } });
  expect(valueAt(values, ["items", 0, "amount"])).toBe(3);
  expect(valueAt(values, ["toString"])).toBeUndefined();
  setAt(values, ["items", 0], undefined);
  setAt(values, ["address", "city"], undefined);
  setAt(values, ["nowhere", "deep"], undefined);
  expect(values).toEqual({ items: [], address: {} });
});
