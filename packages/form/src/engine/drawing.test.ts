import { describe, expect, it } from "vitest";
import { choicesOf, drawingOf } from "./drawing.ts";
import type { JsonSchema } from "./prepare-schema.ts";

const controlOf = (schema: JsonSchema, widget?: string): unknown => {
  const drawing = drawingOf(schema, widget === undefined ? {} : { widget });
  return drawing.kind === "control" ? drawing.control : drawing.kind;
};
const values = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`);

describe("how a field is drawn", () => {
  it.each([
    [{ type: "string" }, "text"],
    [{ type: "string", maxLength: 201 }, "textarea"],
    [{ type: "string", maxLength: 2000, format: "uri" }, "text"],
    [{ type: "string", maxLength: 320, format: "email" }, "text"],
    [{ type: "string", format: "date" }, "date"],
    [{ type: "string", format: "time" }, "time"],
    [{ type: "string", format: "date-time" }, "datetime"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "yesno"],
    [{ type: "boolean", const: true }, "checkbox"],
    [{ const: true }, "checkbox"],
    [{ const: "only" }, "radio"],
    [{ enum: values(4) }, "radio"],
    [{ enum: values(12) }, "select"],
    [{ enum: values(13) }, "combobox"],
    [{ type: "string", "x-sensitive": true }, "secret"],
    [{ type: "object" }, "group"],
    [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "array", items: { enum: values(3) } }, "list"],
    [{ type: "array", uniqueItems: true, items: { enum: values(12) } }, "checkboxes"],
    [{ type: "array", uniqueItems: true, items: { enum: values(13) } }, "multicombobox"],
    [{ type: "array", "x-file": { maxFiles: 3 } }, "file"],
    [{ type: "null" }, "nothing"],
    [{ oneOf: [{ type: "string" }, { type: "object" }] }, "variants"],
    [{ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "radio"],
  ])("[FORM-DRAWN] %j as %s", (schema, expected) => {
    expect(controlOf(schema)).toBe(expected);
  });

  it("[FORM-DRAWN] takes the widget of a hint where it fits, and ignores it elsewhere", () => {
    expect(controlOf({ type: "string" }, "multiline")).toBe("textarea");
    expect(controlOf({ type: "string" }, "password")).toBe("secret");
    expect(controlOf({ enum: values(3) }, "select")).toBe("select");
    expect(controlOf({ enum: values(3) }, "combobox")).toBe("combobox");
    expect(controlOf({ type: "boolean" }, "checkbox")).toBe("checkbox");
    expect(controlOf({ type: "array", uniqueItems: true, items: { enum: values(3) } }, "multiselect")).toBe(
      "multicombobox",
    );
    expect(controlOf({ type: "integer" }, "textarea")).toBe("number");
    expect(controlOf({ type: "string" }, "radio")).toBe("text");
    expect(controlOf({ type: "string" }, "toString")).toBe("text");
    expect(controlOf({ type: "string", "x-sensitive": true }, "textarea")).toBe("secret");
  });

  it("[FORM-DRAWN] shows choices by the labels of the hint", () => {
    const schema = { oneOf: [{ const: "de", title: "Germany" }, { const: "toString" }] };
    expect(drawingOf(schema, { options: { de: "Deutschland" } })).toMatchObject({
      choices: [{ value: "de", label: "Deutschland" }, { value: "toString" }],
    });
  });

  it("shows choices by their titles", () => {
    expect(choicesOf({ oneOf: [{ const: "de", title: "Germany" }, { enum: ["fr"] }] })).toEqual([
      { value: "de", label: "Germany" },
      { value: "fr" },
    ]);
    expect(choicesOf({ const: "only", title: "The field's own" })).toEqual([{ value: "only" }]);
    expect(choicesOf({ enum: ["a", 7] })).toEqual([{ value: "a" }, { value: 7 }]);
    expect(choicesOf({ oneOf: [{ const: 1 }, { type: "string" }] })).toBeUndefined();
  });
});
