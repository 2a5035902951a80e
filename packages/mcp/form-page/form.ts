import { button, el } from "./dom.ts";
import { type FormView, idOf, mark, ownControls, placeOf, visibleProblems } from "./field.ts";
import { fieldFor } from "./groups.ts";
import { type FieldNode, fieldsOf } from "./schema.ts";
import { type FormState, isChanged, isEditable, save, submit } from "./state.ts";
import type { Step } from "./wire.ts";

const STATES: Record<string, string> = {
  needs_review: "It is being reviewed.",
  submitted: "It is being delivered.",
  approved: "It is approved and being delivered.",
  finalized: "It has arrived.",
  cancelled: "It was cancelled.",
  expired: "Its time is over.",
};

/** The fields of a step, and in the end those that no step names. */
function sections(nodes: FieldNode[], steps: Step[]): { step?: Step; nodes: FieldNode[] }[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const known = steps.map((step) => ({ step, nodes: step.fields.flatMap((name) => byName.get(name) ?? []) }));
  const named = new Set(known.flatMap((section) => section.nodes));
  const rest = nodes.filter((node) => !named.has(node));
  return [...known.filter((section) => section.nodes.length > 0), ...(rest.length > 0 ? [{ nodes: rest }] : [])];
}

export function showForm(root: HTMLElement, state: FormState): void {
  if (isEditable(state)) showFields(root, state);
  else showEnd(root, state, state.record.state);
}

function showFields(root: HTMLElement, state: FormState): void {
  const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
  const summary = el("div", { class: "summary", role: "alert", tabindex: "-1" });
  summary.hidden = true;
  const body = el("div", { class: "sections" });
  const nodes = fieldsOf(state.record.schema, state.hints);
  const buttons = [
    button("Save", () => view.run("Saving", () => saveAll(view)), "second"),
    button("Submit", () => view.run("Sending", () => sendAll(view, summary)), "first"),
  ];
  let busy = false;
  const view: FormView & { tell(text: string): void } = {
    state,
    root: body,
    tell: (text) => {
      status.textContent = text;
    },
    changed: () => view.tell(isChanged(state) ? "Not saved yet" : ""),
    redraw: () => {
      body.replaceChildren(...sections(nodes, state.steps).map((section) => sectionOf(section, view)));
      mark(view);
    },
    run: (what, work, field) => {
      if (busy) return;
      busy = true;
      state.mishap = undefined;
      view.tell(`${what} …`);
      for (const each of buttons) each.disabled = true;
      work()
        .then(() => {
          if (status.textContent === `${what} …`) view.tell("Done");
        })
        .catch((error: unknown) => {
          const message = error instanceof Error ? error.message : "Something went wrong.";
          if (field !== undefined) state.mishap = { path: field, code: "custom", message };
          view.tell(message);
        })
        .finally(() => {
          busy = false;
          for (const each of buttons) each.disabled = false;
          mark(view);
        });
    },
  };
  root.replaceChildren(...opening(state), summary, body, el("div", { class: "actions" }, ...buttons, status));
  view.redraw();
}

function opening(state: FormState): HTMLElement[] {
  const reasons = state.record.rejections?.at(-1)?.reasons ?? [];
  return [
    el("h1", {}, state.title),
    ...(state.description === "" ? [] : [el("p", { class: "lead" }, state.description)]),
    ...(state.message === "" ? [] : [el("blockquote", {}, state.message)]),
    ...(reasons.length === 0 ? [] : [el("p", { class: "rejected" }, `Sent back: ${reasons.join(" ")}`)]),
  ];
}

function sectionOf({ step, nodes }: { step?: Step; nodes: FieldNode[] }, view: FormView): HTMLElement {
  const fields = nodes.map((node) => fieldFor(node, [node.name], view));
  if (step === undefined) return el("section", {}, ...fields);
  const id = `s-${encodeURIComponent(step.id)}`;
  const words = step.description === undefined ? [] : [el("p", { class: "help" }, step.description)];
  return el("section", { "aria-labelledby": id }, el("h2", { id }, step.title), ...words, ...fields);
}

type Telling = FormView & { tell(text: string): void };

async function saveAll(view: Telling): Promise<void> {
  const { state } = view;
  const saved = await save(state);
  if (!saved) return tellConflict(view);
  view.tell("Saved");
  const missing = state.record.missingFields.length;
  state.host.tellModel(
    `The person saved the form: submission ${state.record.submissionId}, version ${state.record.version}, ${missing} needed fields still empty.`,
  );
}

/** Both are kept: theirs where nothing was typed here, ours where something was. */
function tellConflict(view: Telling): void {
  view.redraw();
  view.tell("Somebody else changed this form meanwhile. Your entries are kept: look at both, then save again.");
}

async function sendAll(view: Telling, summary: HTMLElement): Promise<void> {
  const { state } = view;
  summary.hidden = true;
  if (!(await save(state))) return tellConflict(view);
  state.tried = true;
  const outcome = await submit(state);
  if ("sent" in outcome) {
    const root = view.root.parentElement;
    state.host.tellModel(
      `The person submitted the form: submission ${state.record.submissionId} is now ${outcome.sent}.`,
    );
    if (root !== null) showEnd(root, state, outcome.sent);
    return;
  }
  mark(view);
  view.tell("Not sent: some fields need your attention.");
  showSummary(view, summary);
}

function showSummary(view: FormView, summary: HTMLElement): void {
  const fields = new Map(
    [...view.root.querySelectorAll<HTMLElement>("[data-path]")].map((at) => [at.dataset.path ?? "", at]),
  );
  const places = new Set(visibleProblems(view.state).flatMap(({ path }) => placeOf(path, fields) ?? []));
  const links = [...fields]
    .filter(([path]) => places.has(path))
    .map(([path, field]) => {
      const label = field?.querySelector("label, legend")?.firstChild?.textContent ?? path;
      const control = field === undefined ? undefined : (ownControls(field)[0] ?? field);
      return el(
        "li",
        {},
        button(label, () => control?.focus(), "link"),
      );
    });
  const count = links.length === 1 ? "One field needs" : `${links.length} fields need`;
  summary.replaceChildren(el("p", {}, `${count} your attention:`), el("ul", {}, ...links));
  summary.hidden = false;
  summary.focus();
}

function showEnd(root: HTMLElement, state: FormState, reached: string): void {
  const heading = el("h1", { tabindex: "-1", id: idOf(["end"]) }, state.title);
  const words = STATES[reached] ?? `Its state is ${reached}.`;
  const sent = reached === "cancelled" || reached === "expired" ? "" : "Thank you, the form was sent. ";
  root.replaceChildren(heading, el("p", { class: "done", role: "status" }, `${sent}${words}`));
  heading.focus();
}
