import type { Json, JsonObject } from "@formbridge/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ContractError } from "../error.ts";
import { compileIntake } from "../intake/compile-intake.ts";
import { applyPatch } from "./apply-patch.ts";

const intakeOf = (schema: Record<string, unknown>) =>
  compileIntake({ id: "t", version: "1", name: "T", schema, destination: { kind: "store" } });
const open = intakeOf({ type: "object" });
const text = { type: "string" };
const closed = intakeOf({
  type: "object",
  additionalProperties: false,
  properties: {
    name: text,
    note: { type: ["string", "null"] },
    "a.b": text,
    address: { type: "object", additionalProperties: false, properties: { city: text, "geo.lat": text } },
    items: {
      type: "array",
      items: { type: "object", additionalProperties: false, properties: { amount: { type: "number" } } },
    },
    w9: { "x-file": { accept: ["*/*"], maxBytes: 1 } },
    docs: { "x-file": { accept: ["*/*"], maxBytes: 1, maxFiles: 3 } },
  },
});

function refusal(act: () => unknown): ContractError {
  try {
    act();
  } catch (error) {
    if (error instanceof ContractError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("merge", () => {
  it("objects merge, arrays replace, null deletes what was there", () => {
    const current = { a: { b: 1, c: 2 }, l: [1, 2], x: 1 };
    const result = applyPatch(current, { a: { b: 3 }, l: [9], x: null, y: null }, open);
    expect(result.fields).toEqual({ a: { b: 3, c: 2 }, l: [9] });
    expect(result.set).toEqual([
      { path: ["a", "b"], value: 3 },
      { path: ["l"], value: [9] },
    ]);
    expect(result.removed).toEqual([["x"]]);
  });

  it("null is stored where the property's own schema accepts it", () => {
    const result = applyPatch({ note: "x", name: "y" }, { note: null, name: null }, closed);
    expect(result.fields).toEqual({ note: null });
    expect(result.set).toEqual([{ path: ["note"], value: null }]);
  });

  it("an empty object is a leaf when it is new, and changes nothing when one exists", () => {
    expect(applyPatch({}, { a: {} }, open).set).toEqual([{ path: ["a"], value: {} }]);
    expect(applyPatch({ a: { b: 1 } }, { a: {} }, open)).toEqual({ fields: { a: { b: 1 } }, set: [], removed: [] });
  });

  it("a value of the wrong type is stored, also an object for a text", () => {
    expect(applyPatch({}, { name: { first: "A", last: null } }, closed).fields).toEqual({ name: { first: "A" } });
    expect(applyPatch({}, { items: { foo: 1 } }, closed).fields).toEqual({ items: { foo: 1 } });
  });

  it("a file reference is one value and replaces the one before", () => {
    const current = { w9: { uploadId: "upl_1", filename: "a" } };
    const result = applyPatch(current, { w9: { uploadId: "upl_2" } }, closed);
    expect(result.fields).toEqual({ w9: { uploadId: "upl_2" } });
    expect(result.set).toEqual([{ path: ["w9"], value: { uploadId: "upl_2" } }]);
    expect(applyPatch({}, { "docs.0": { uploadId: "upl_3" } }, closed).fields).toEqual({
      docs: [{ uploadId: "upl_3" }],
    });
    expect(refusal(() => applyPatch(current, { "w9.filename": "b" }, closed)).type).toBe("invalid");
  });
});

describe("paths", () => {
  it("a dot-path sets inside, only at the top level", () => {
    expect(applyPatch({}, { "address.city": "Bern" }, closed).fields).toEqual({ address: { city: "Bern" } });
    expect(applyPatch({}, { x: { "a.b": 1 } }, open).fields).toEqual({ x: { "a.b": 1 } });
  });

  it("a literal name with a dot wins when it is declared or already there", () => {
    expect(applyPatch({}, { "a.b": "x" }, closed).fields).toEqual({ "a.b": "x" });
    expect(applyPatch({ "p.q": 1 }, { "p.q": 2 }, open).fields).toEqual({ "p.q": 2 });
    expect(applyPatch({}, { "address.geo.lat": "1" }, closed).fields).toEqual({ address: { "geo.lat": "1" } });
  });

  it("an index may be an existing one or the next one", () => {
    const current = { items: [{ amount: 1 }] };
    expect(applyPatch(current, { "items.0.amount": 2, "items.1.amount": 3 }, closed).fields).toEqual({
      items: [{ amount: 2 }, { amount: 3 }],
    });
    expect(applyPatch({}, { "items.0.amount": 2 }, closed).fields).toEqual({ items: [{ amount: 2 }] });
    for (const path of ["items.2.amount", "items.first", "items.-1", "items.00"]) {
      expect(refusal(() => applyPatch(current, { [path]: 3 }, closed)).detail.fields).toMatchObject([{ path }]);
    }
    expect(applyPatch({ items: [{ amount: 1 }, { amount: 2 }] }, { "items.0": null }, closed)).toMatchObject({
      fields: { items: [{ amount: 2 }] },
      removed: [["items", "0"]],
    });
  });

  it("keys apply in the order given, and the later one counts", () => {
    const result = applyPatch({}, { "address.city": "Bern", address: { city: "Basel" } }, closed);
    expect(result.set).toEqual([{ path: ["address", "city"], value: "Basel" }]);
    expect(applyPatch({}, { "address.city": "Bern", address: null }, closed)).toEqual({
      fields: {},
      set: [],
      removed: [],
    });
  });

  it("a path through a text is refused where the schema says text, and replaces it where it says nothing", () => {
    expect(refusal(() => applyPatch({ name: "A" }, { "name.first": "B" }, closed)).type).toBe("invalid");
    expect(applyPatch({ name: "A" }, { "name.first": "B" }, open).fields).toEqual({ name: { first: "B" } });
  });
});

describe("refusals", () => {
  it("every unknown field is listed, at any depth", () => {
    const patch = { bogus: 1, address: { zip: 1 }, items: [{ amount: 1, foo: 2 }], "address.x": 3 };
    const error = refusal(() => applyPatch({}, patch, closed));
    expect(error.type).toBe("invalid");
    expect(error.detail.fields?.map(({ path }) => path)).toEqual(["bogus", "address.zip", "items.0.foo", "address.x"]);
    expect(error.detail.fields?.[0]).toMatchObject({ code: "custom", message: "bogus is not a field of this intake" });
  });

  it.each(["__proto__", "prototype", "constructor"])("%s is refused as a key, a segment and inside arrays", (name) => {
    const key = JSON.stringify(name);
    for (const patch of [
      `{${key}:1}`,
      `{"a":{${key}:1}}`,
      `{"a":[{${key}:1}]}`,
      `{"a.${name}.b":1}`,
      `{"${name}.b":null}`,
    ]) {
      expect(refusal(() => applyPatch({}, JSON.parse(patch), open)).type).toBe("bad_request");
    }
  });

  it("too deep nesting and non-JSON values are refused", () => {
    let deep: Json = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    for (const patch of [{ a: deep }, { a: undefined }, { a: Number.NaN }, { ["a.".repeat(500)]: 1 }]) {
      expect(refusal(() => applyPatch({}, patch, open)).type).toBe("bad_request");
    }
  });
});

function naive(target: Json | undefined, patch: Json): Json {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result: JsonObject =
    typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = naive(result[name], value);
  }
  return result;
}

const { json } = fc.letrec<{ json: Json; leaf: Json; list: Json[]; object: JsonObject }>((tie) => ({
  json: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("list"), tie("object")),
  leaf: fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.boolean(), fc.constant(null)),
  list: fc.array(tie("json"), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom("a", "b", "name", "toString", "0"), tie("json"), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
}));
const object = fc.dictionary(fc.constantFrom("a", "b", "name", "toString"), json, { noNullPrototype: true });

describe("always", () => {
  const typed = intakeOf({
    type: "object",
    properties: { name: text, a: { type: "object", properties: { b: text } } },
  });

  it("the result is that of RFC 7396, and the input is not modified", () => {
    fc.assert(
      fc.property(object, object, (current, patch) => {
        const before = structuredClone(current);
        for (const intake of [open, typed])
          expect(applyPatch(current, patch, intake).fields).toEqual(naive(current, patch));
        expect(current).toEqual(before);
      }),
    );
  });

  it("nothing but a ContractError is thrown", () => {
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom("items.0", "items.1.amount", "a.b", "a.b.c", "..", "address.city", "name.x"),
    );
    fc.assert(
      fc.property(object, fc.dictionary(key, fc.oneof(json, fc.anything())), (current, patch) => {
        for (const intake of [open, closed]) {
          try {
            applyPatch(current, patch, intake);
          } catch (error) {
            expect(error).toBeInstanceOf(ContractError);
          }
        }
      }),
    );
  });
});
