import type { FieldHint } from "@formbridge/contract";
import { isObject } from "./changes.ts";
import { ANYTHING, type JsonSchema } from "./prepare-schema.ts";

/** A value to choose, and what it is called. */
export interface Choice {
  value: unknown;
  /** Absent when the value is self-explanatory. */
  label?: string;
}

export type Control =
  | "text"
  | "textarea"
  | "number"
  | "secret"
  | "date"
  | "time"
  | "datetime"
  | "yesno"
  | "checkbox"
  | "anything"
  | OneOfMany
  | "checkboxes"
  | "multicombobox";
type OneOfMany = "radio" | "select" | "combobox";

/** How a field is drawn: as a group of fields, a list, a file, a choice between kinds, or one control. */
export type Drawing =
  | { kind: "group" | "list" | "file" | "variants" | "nothing" }
  | { kind: "control"; control: Control; choices: readonly Choice[] };

/** More options than this are searched, not scrolled. */
const SEARCHED = 12;
/** As few as this are shown side by side. */
const LISTED = 4;
/** Texts that may be longer than this get a box of several lines. */
const LONG = 200;

/** Decides how a resolved schema is drawn. A hint's widget is taken where it fits the values, and ignored elsewhere. */
export function drawingOf(schema: JsonSchema, { widget, options }: FieldHint = {}): Drawing {
  if (schema["x-file"] !== undefined) return { kind: "file" };
  const many = labelled(choicesOfItems(schema), options);
  if (many !== undefined) return control(widget, MANY, many.length > SEARCHED ? "multicombobox" : "checkboxes", many);
  const choices = labelled(choicesOf(schema), options);
  if (choices !== undefined && schema["x-sensitive"] !== true) return ofChoices(choices, schema, widget);
  if (schema.oneOf !== undefined || schema.anyOf !== undefined) return { kind: "variants" };
  if (schema.type === "object") return { kind: "group" };
  if (schema.type === "array") return { kind: "list" };
  if (schema.type === "null") return { kind: "nothing" };
  if (schema["x-sensitive"] === true) return control(undefined, [], "secret");
  if (schema.type === "boolean") return control(widget, ["checkbox", "yesno", "radio"], "yesno", YES_NO);
  if (schema.type === "number" || schema.type === "integer") return control(widget, ["secret"], "number");
  if (schema[ANYTHING] === true) return control(widget, TEXTS, "anything");
  return control(widget, TEXTS, controlOfText(schema));
}

const MANY: readonly Control[] = ["checkboxes", "multicombobox"];
const TEXTS: readonly Control[] = ["text", "textarea", "secret", "date", "time", "datetime"];
const YES_NO: readonly Choice[] = [{ value: true }, { value: false }];

/** Other names that definitions use for the same controls. */
const ALIASES: Readonly<Record<string, Control>> = {
  multiline: "textarea",
  password: "secret",
  "date-time": "datetime",
  autocomplete: "combobox",
  dropdown: "select",
  multiselect: "multicombobox",
};

function control(
  widget: string | undefined,
  fitting: readonly Control[],
  usual: Control,
  choices: readonly Choice[] = [],
): Drawing {
  const wished = widget !== undefined && Object.hasOwn(ALIASES, widget) ? ALIASES[widget] : widget;
  return { kind: "control", control: fitting.find((each) => each === wished) ?? usual, choices };
}

function ofChoices(choices: readonly Choice[], schema: JsonSchema, widget: string | undefined): Drawing {
  const isAgreement = schema.type === "boolean" || schema.type === undefined;
  if (isAgreement && choices.length === 1 && choices[0]?.value === true)
    return control(undefined, [], "checkbox", choices);
  const usual = choices.length <= LISTED ? "radio" : choices.length > SEARCHED ? "combobox" : "select";
  return control(widget, ["radio", "select", "combobox"], usual, choices);
}

const CONTROL_OF_FORMAT: Readonly<Record<string, Control>> = { date: "date", time: "time", "date-time": "datetime" };

/** A format says more about a value than its length does. */
function controlOfText({ format, maxLength }: JsonSchema): Control {
  if (typeof format === "string") return CONTROL_OF_FORMAT[format] ?? "text";
  return typeof maxLength === "number" && maxLength > LONG ? "textarea" : "text";
}

/** The values that a schema allows, if it names them all. */
export function choicesOf(schema: JsonSchema): readonly Choice[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => ({ value }));
  if ("const" in schema) return schema.const === null ? undefined : [{ value: schema.const }];
  const options = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const isOne = (option: unknown) =>
    isObject(option) && ("const" in option || (Array.isArray(option.enum) && option.enum.length === 1));
  return options.every(isOne) ? (options as JsonSchema[]).map(choiceOf) : undefined;
}

const choiceOf = (option: JsonSchema): Choice => ({
  value: "const" in option ? option.const : (option.enum as unknown[])[0],
  ...(typeof option.title === "string" && { label: option.title }),
});

/** The hint's labels win: they are translated. */
const labelled = (choices: readonly Choice[] | undefined, labels: FieldHint["options"] = {}) =>
  choices?.map((choice) => {
    const key = String(choice.value);
    return Object.hasOwn(labels, key) ? { ...choice, label: labels[key] ?? key } : choice;
  });

/** A list in which every value may stand once is a set of boxes to tick. */
function choicesOfItems(schema: JsonSchema): readonly Choice[] | undefined {
  if (schema.type !== "array" || schema.uniqueItems !== true || !isObject(schema.items)) return undefined;
  return choicesOf(schema.items);
}
