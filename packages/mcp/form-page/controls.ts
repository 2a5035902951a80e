import { dotted, type Path, setAt, valueAt } from "./changes.ts";
import { el } from "./dom.ts";
import { describe, type FormView, idOf } from "./field.ts";
import type { FieldNode } from "./schema.ts";
import { isSame, type Json, jsonIn, numberIn } from "./wire.ts";

type Control = HTMLElement;

const INPUT_TYPES: Record<string, string> = {
  email: "email",
  uri: "url",
  date: "date",
  time: "time",
  password: "password",
};

/** One control for one value. What it says is kept in the draft as it is typed. */
export function controlFor(node: FieldNode, path: Path, view: FormView): Control {
  const value = valueAt(view.state.draft, path);
  const keep = (next: Json | undefined): void => {
    setAt(view.state.draft, path, next);
    view.changed();
  };
  if (node.kind === "choice") return choice(node, path, { value, keep, view });
  if (node.kind === "boolean") return yesNo(node, path, { value, keep });
  return text(node, path, { value, keep });
}

interface Kept {
  value: Json | undefined;
  keep(next: Json | undefined): void;
}

const common = (node: FieldNode, path: Path) => ({
  id: idOf(path),
  "aria-describedby": describe(path),
  "aria-required": node.required ? "true" : undefined,
  disabled: node.locked,
});

function text(node: FieldNode, path: Path, { value, keep }: Kept): Control {
  const isLong = node.long || node.kind === "json";
  const shown = shownText(node, value);
  const input = isLong
    ? el("textarea", { ...common(node, path), rows: "4", placeholder: node.placeholder })
    : el("input", {
        ...common(node, path),
        type: node.kind === "number" ? "text" : (INPUT_TYPES[node.format] ?? "text"),
        inputmode: node.kind === "number" ? (node.integer ? "numeric" : "decimal") : undefined,
        placeholder: node.placeholder,
        autocomplete: node.sensitive ? "off" : undefined,
      });
  // A date that is no date can't stand in a date control: it is shown as it is, to be mended.
  if (input instanceof HTMLInputElement && input.type === "date" && shown !== "" && !/^\d{4}-\d\d-\d\d$/.test(shown)) {
    input.type = "text";
  }
  input.value = shown;
  input.addEventListener("input", () => keep(readText(node, input.value)));
  return input;
}

function shownText(node: FieldNode, value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return node.kind === "json" || typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** What can't be read as one number or as JSON is sent as it was typed: the server keeps it and says what is wrong. */
function readText(node: FieldNode, typed: string): Json | undefined {
  if (typed.trim() === "") return undefined;
  if (node.kind === "number") return numberIn(typed) ?? typed;
  if (node.kind !== "json") return typed;
  try {
    return jsonIn(typed);
  } catch {
    return typed;
  }
}

function choice(node: FieldNode, path: Path, { value, keep, view }: Kept & { view: FormView }): Control {
  const select = el("select", common(node, path), el("option", { value: "" }, "Please choose"));
  for (const [index, { label }] of node.choices.entries()) select.append(el("option", { value: String(index) }, label));
  const index = node.choices.findIndex((one) => isSame(one.value, value));
  // A value that is none of the choices is shown, so that nobody overlooks it.
  if (index < 0 && value !== undefined && value !== null) {
    select.append(el("option", { value: "other" }, String(value)));
    select.value = "other";
  } else select.value = index < 0 ? "" : String(index);
  select.addEventListener("change", () => {
    if (select.value !== "other") keep(node.choices[Number(select.value || -1)]?.value);
    view.changed();
  });
  return select;
}

/** Two radios: "no" is an answer, and not the same as none. */
function yesNo(node: FieldNode, path: Path, { value, keep }: Kept): Control {
  const name = `r-${dotted(path)}`;
  const radio = (label: string, own: boolean): HTMLElement => {
    const id = `${idOf(path)}-${own}`;
    const input = el("input", { type: "radio", id, name, disabled: node.locked, "aria-describedby": describe(path) });
    input.checked = value === own;
    input.addEventListener("change", () => keep(own));
    return el("label", { class: "radio", for: id }, input, label);
  };
  return el("div", { class: "radios" }, radio("Yes", true), radio("No", false));
}
