import { dotted, type Path, setAt, valueAt } from "./changes.ts";
import { controlFor } from "./controls.ts";
import { button, el } from "./dom.ts";
import { describe, type FormView, grouped, idOf, labelled } from "./field.ts";
import type { FieldNode } from "./schema.ts";
import { save, upload } from "./state.ts";
import { isObject, type Json } from "./wire.ts";

/** A field of any kind. */
export function fieldFor(node: FieldNode, path: Path, view: FormView): HTMLElement {
  if (node.kind === "object")
    return grouped(node, path, ...node.members.map((each) => fieldFor(each, [...path, each.name], view)));
  if (node.kind === "list") return grouped(node, path, list(node, path, view));
  if (node.kind === "file" || node.kind === "files") return files(node, path, view);
  if (node.kind === "boolean") return grouped(node, path, controlFor(node, path, view));
  return labelled(node, path, controlFor(node, path, view));
}

function list(node: FieldNode, path: Path, view: FormView): HTMLElement {
  const holder = el("div", { class: "items" });
  const { item } = node;
  if (item === undefined) return holder;
  const items = (): Json[] => {
    const value = valueAt(view.state.draft, path);
    return Array.isArray(value) ? value : [];
  };
  const change = (next: Json[], focus: () => HTMLElement | null | undefined): void => {
    setAt(view.state.draft, path, next.length === 0 ? undefined : next);
    draw();
    view.changed();
    focus()?.focus();
  };
  const add = button(`Add to ${node.label.toLowerCase()}`, () => {
    const next = [...items(), item.kind === "object" ? {} : item.kind === "list" ? [] : ""];
    change(next, () => holder.children[next.length - 1]?.querySelector<HTMLElement>("input, select, textarea"));
  });
  add.disabled = node.locked;
  const draw = (): void => {
    const rows = items().map((_, index) => {
      const label = `${node.label} ${index + 1}`;
      const remove = button("Remove", () => change(items().toSpliced(index, 1), () => add), "quiet");
      remove.setAttribute("aria-label", `Remove ${label}`);
      return el(
        "div",
        { class: "item" },
        fieldFor({ ...item, label, required: false }, [...path, index], view),
        remove,
      );
    });
    holder.replaceChildren(...rows, add);
  };
  draw();
  return holder;
}

const BYTES = 1024;
const sizeOf = (bytes: number): string =>
  bytes < BYTES * BYTES ? `${Math.max(1, Math.round(bytes / BYTES))} KB` : `${(bytes / BYTES / BYTES).toFixed(1)} MB`;

/** Files go up at once, each by itself; what was typed before goes along, so that a file has its place to go to. */
function files(node: FieldNode, path: Path, view: FormView): HTMLElement {
  const value = valueAt(view.state.draft, path);
  const there = (Array.isArray(value) ? value : [value]).filter(isObject);
  const remove = (uploadId: Json | undefined): void => {
    const left = there.filter((file) => file.uploadId !== uploadId);
    setAt(view.state.draft, path, left.length === 0 ? undefined : node.kind === "files" ? left : left[0]);
    view.run("Removing the file", async () => {
      await save(view.state);
      view.redraw();
    });
  };
  const rows = there.map((file) => {
    const size = typeof file.sizeBytes === "number" ? ` (${sizeOf(file.sizeBytes)})` : "";
    const drop = button("Remove", () => remove(file.uploadId), "quiet");
    drop.setAttribute("aria-label", `Remove ${String(file.filename)}`);
    return el("li", {}, el("span", {}, `${String(file.filename)}${size}`), drop);
  });
  const input = el("input", {
    type: "file",
    id: idOf(path),
    accept: node.accept.join(","),
    multiple: node.kind === "files",
    disabled: node.locked,
    "aria-describedby": describe(path),
  });
  input.addEventListener("change", () => {
    const chosen = [...(input.files ?? [])];
    if (chosen.length === 0) return;
    view.run(
      `Sending ${chosen.map(({ name }) => name).join(", ")}`,
      async () => {
        await save(view.state);
        for (const file of chosen) await upload(view.state, dotted(path), file);
        view.redraw();
      },
      dotted(path),
    );
  });
  return labelled(node, path, el("div", { class: "files" }, el("ul", {}, ...rows), input));
}
