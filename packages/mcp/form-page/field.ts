import { dotted, type Path } from "./changes.ts";
import { el } from "./dom.ts";
import type { FieldNode } from "./schema.ts";
import type { FormState } from "./state.ts";
import type { Actor, FieldProblem } from "./wire.ts";

/** The form on the screen. */
export interface FormView {
  state: FormState;
  root: HTMLElement;
  /** Something was typed. */
  changed(): void;
  /** Runs what talks to the server: one at a time, with its outcome told; what goes wrong is told at its field, too. */
  run(what: string, work: () => Promise<void>, field?: string): void;
  redraw(): void;
}

export const idOf = (path: Path): string => `f-${encodeURIComponent(dotted(path))}`;

/** What a control is described by: its help, who filled it in, and what is wrong with it. */
export const describe = (path: Path): string =>
  ["help", "by", "error"].map((part) => `${idOf(path)}-${part}`).join(" ");

const note = (path: Path, part: "help" | "by" | "error", text = ""): HTMLElement => {
  const made = el("p", { class: part, id: `${idOf(path)}-${part}` }, text);
  made.hidden = text === "";
  return made;
};

const needed = (node: FieldNode): (HTMLElement | string)[] =>
  node.required ? [" ", el("span", { class: "needed" }, "(needed)")] : [];

/** A label above one control. */
export function labelled(node: FieldNode, path: Path, control: HTMLElement): HTMLElement {
  const label = el("label", { for: idOf(path) }, node.label, ...needed(node));
  return el(
    "div",
    { class: "field", "data-path": dotted(path) },
    label,
    note(path, "help", helpOf(node)),
    control,
    note(path, "error"),
    note(path, "by"),
  );
}

/** A legend around several controls. */
export function grouped(node: FieldNode, path: Path, ...controls: HTMLElement[]): HTMLElement {
  return el(
    "fieldset",
    {
      class: `field ${node.kind}`,
      "data-path": dotted(path),
      id: `${idOf(path)}-group`,
      tabindex: "-1",
      "aria-describedby": describe(path),
    },
    el("legend", {}, node.label, ...needed(node)),
    note(path, "help", helpOf(node)),
    note(path, "error"),
    ...controls,
    note(path, "by"),
  );
}

const helpOf = ({ help, locked }: FieldNode): string => (locked ? `${help} The agent fills this in.`.trim() : help);

const nameOf = ({ kind, id, name }: Actor): string => `${name ?? id}${kind === "agent" ? " (agent)" : ""}`;
const isMe = (actor: Actor, me: Actor): boolean => actor.kind === me.kind && actor.id === me.id;

/** Puts errors and names where they belong. A problem of something that has no field of its own goes to what holds it. */
export function mark({ state, root }: FormView): void {
  const fields = new Map(
    [...root.querySelectorAll<HTMLElement>("[data-path]")].map((at) => [at.dataset.path ?? "", at]),
  );
  const texts = new Map<string, string>();
  for (const problem of visibleProblems(state)) {
    const place = placeOf(problem.path, fields);
    if (place !== undefined) texts.set(place, [texts.get(place), messageOf(problem)].filter(Boolean).join(" "));
  }
  for (const [path, field] of fields) {
    show(field, "error", texts.get(path) ?? "");
    const wrong = texts.has(path);
    field.classList.toggle("wrong", wrong);
    for (const control of ownControls(field)) control.setAttribute("aria-invalid", String(wrong));
    const by = state.record.attribution[path]?.actor;
    show(
      field,
      "by",
      by === undefined ? "" : isMe(by, state.actor) ? "Filled in by you" : `Filled in by ${nameOf(by)}`,
    );
  }
}

/** The label says which field it is: the path need not. */
function messageOf({ path, code, message }: FieldProblem): string {
  if (code === "required" || code === "file_required") return "This is needed.";
  const words = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What is missing is an error only once somebody tried to send the form. */
export const visibleProblems = ({ record, tried, mishap }: FormState): FieldProblem[] => [
  ...(mishap === undefined ? [] : [mishap]),
  ...record.validationErrors.filter(({ code }) => tried || (code !== "required" && code !== "file_required")),
];

export function placeOf(path: string, fields: ReadonlyMap<string, unknown>): string | undefined {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) if (fields.has(at)) return at;
  return undefined;
}

function show(field: HTMLElement, part: "by" | "error", text: string): void {
  const place = [...field.children].find(
    (child): child is HTMLElement => child instanceof HTMLElement && child.id.endsWith(`-${part}`),
  );
  if (place === undefined) return;
  place.textContent = text;
  place.hidden = text === "";
}

export const ownControls = (field: HTMLElement): HTMLElement[] =>
  [...field.querySelectorAll<HTMLElement>("input, select, textarea")].filter(
    (control) => control.closest("[data-path]") === field,
  );
